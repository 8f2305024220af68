// Argument types and `onnx.dims` of the entry function.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/InputShapes.h"

#include "dialects/onnx/Onnx.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cameo;

/// Whether `text` is a name and sizes, though these may be wrong.
static bool endsWithSizes(StringRef text) {
  auto [name, sizes] = text.rsplit(':');
  return !name.empty() && text.contains(':') &&
         sizes.find_first_not_of("0123456789?x") == StringRef::npos;
}

/// "x.0" as a name and a dimension's index.
static std::optional<std::pair<StringRef, uint64_t>> asDimension(StringRef text) {
  auto [name, digits] = text.rsplit('.');
  uint64_t index = 0;
  if (name.empty() || digits.empty() || digits.find_first_not_of("0123456789") != StringRef::npos ||
      digits.getAsInteger(10, index))
    return std::nullopt;
  return std::pair(name, index);
}

/// The sides of "x.0=y.0=8", one of which at least is a dimension; none of other texts.
static std::vector<std::string> sidesOf(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, '=');
  bool isEquality = parts.size() > 1 &&
                    llvm::none_of(parts, [](StringRef part) { return part.empty(); }) &&
                    llvm::any_of(parts, asDimension);
  if (!isEquality)
    return {};
  return std::vector<std::string>(parts.begin(), parts.end());
}

/// "1x3x224x224" of `text`.
static llvm::Expected<SmallVector<int64_t>> parseSizes(StringRef sizes, StringRef text) {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  if (!sizes.empty())
    sizes.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size = -1;
    if (part != "?" && (part.getAsInteger(10, size) || size < 0))
      return llvm::createStringError("'" + part + "' in '" + text + "' is not a size");
    shape.push_back(size);
  }
  return shape;
}

llvm::Error cameo::parseShapes(StringRef value, InputShapes &shapes) {
  for (bool more = true; more;) {
    // Names may hold colons and commas: what has no sizes behind its last colon is part of a name.
    auto isWhole = [](StringRef text) { return endsWithSizes(text) || !sidesOf(text).empty(); };
    size_t end = value.find(',');
    while (end != StringRef::npos && !isWhole(value.take_front(end)))
      end = value.find(',', end + 1);
    StringRef text = value.take_front(end);
    more = end != StringRef::npos;
    value = more ? value.drop_front(end + 1) : StringRef();
    if (std::vector<std::string> sides = sidesOf(text); !sides.empty() && !endsWithSizes(text)) {
      shapes.equal.push_back(std::move(sides));
      continue;
    }
    auto [name, sizes] = text.rsplit(':');
    if (name.empty() || !text.contains(':'))
      return llvm::createStringError(
          "'" + text + "' is not of the form input:1x3x224x224, size:8 or input.0=other.0");
    llvm::Expected<SmallVector<int64_t>> shape = parseSizes(sizes, text);
    if (!shape)
      return shape.takeError();
    if (!shapes.sizes.try_emplace(name.str(), std::move(*shape)).second)
      return llvm::createStringError("it gives '" + name + "' twice");
  }
  return llvm::Error::success();
}

static StringAttr symbolOf(func::FuncOp function, unsigned i, unsigned dim) {
  auto dims = function.getArgAttrOfType<ArrayAttr>(i, onnx::kDimsAttr);
  auto symbol = dims && dim < dims.size() ? dyn_cast<StringAttr>(dims[dim]) : StringAttr();
  return symbol && !symbol.empty() ? symbol : StringAttr();
}

std::vector<std::string> cameo::openSizes(func::FuncOp function) {
  llvm::SetVector<StringRef> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType()))
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (StringAttr symbol = symbolOf(function, i, d); symbol && type.isDynamicDim(d))
          names.insert(symbol.getValue());
  return {names.begin(), names.end()};
}

namespace {

struct ShapeFixer {
  func::FuncOp function;
  StringRef option;                      // what diagnostics begin with
  llvm::StringMap<int64_t> symbols = {}; // what named sizes are fixed to

  StringRef nameOf(unsigned i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, onnx::kNameAttr);
    return name ? name.getValue() : StringRef();
  }

  /// There is nothing of a name; `what` there is not.
  LogicalResult unknown(const Twine &what) {
    SmallVector<StringRef> inputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs.push_back(nameOf(i));
    std::vector<std::string> sizes = openSizes(function);
    return emitError(function.getLoc())
           << option << ": the model has " << what
           << "; inputs: " << (inputs.empty() ? "none" : llvm::join(inputs, ", "))
           << "; open sizes: " << (sizes.empty() ? "none" : llvm::join(sizes, ", "));
  }

  /// `shape` of a name that no input has.
  LogicalResult fixSymbol(StringRef name, ArrayRef<int64_t> shape) {
    if (!llvm::is_contained(openSizes(function), name))
      return unknown("no input and no open size '" + name + "'");
    if (shape.size() != 1)
      return emitError(function.getLoc())
             << option << ": '" << name << "' is an open size, which is "
             << "one number, not " << shape.size();
    if (shape.front() >= 0)
      symbols[name] = shape.front();
    return success();
  }

  /// What the given shape says of named sizes, and whether it fits.
  LogicalResult collect(unsigned i, ArrayRef<int64_t> shape) {
    auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
    auto error = [&] {
      return emitError(function.getLoc()) << option << ": input '" << nameOf(i) << "' ";
    };
    if (!type) {
      if (isa<UnrankedTensorType>(function.getArgument(i).getType()))
        return success();
      return error() << "is not a tensor";
    }
    if (type.getRank() != static_cast<int64_t>(shape.size()))
      return error() << "has " << type.getRank() << " dimensions, not " << shape.size();
    for (auto [d, size] : llvm::enumerate(shape)) {
      if (size < 0)
        continue;
      int64_t known = type.getDimSize(d);
      if (!ShapedType::isDynamic(known) && known != size)
        return error() << "has size " << known << " in dimension " << d << ", not " << size;
      StringAttr symbol = symbolOf(function, i, d);
      if (!symbol)
        continue;
      auto [fixed, isNew] = symbols.try_emplace(symbol, size);
      if (!isNew && fixed->second != size)
        return error() << "asks for " << symbol << " = " << size << "; it is " << fixed->second
                       << " already";
    }
    return success();
  }

  void apply(unsigned i, const SmallVector<int64_t> *given) {
    Value argument = function.getArgument(i);
    auto tensor = dyn_cast<TensorType>(argument.getType());
    if (!tensor || (!tensor.hasRank() && !given))
      return;
    SmallVector<int64_t> shape = tensor.hasRank()
                                     ? SmallVector<int64_t>(tensor.getShape())
                                     : SmallVector<int64_t>(given->size(), ShapedType::kDynamic);
    SmallVector<Attribute> dims;
    Builder builder(function.getContext());
    for (auto [d, size] : llvm::enumerate(shape)) {
      StringAttr symbol = symbolOf(function, i, d);
      if (ShapedType::isDynamic(size) && given && (*given)[d] >= 0)
        size = (*given)[d];
      else if (auto fixed = symbol ? symbols.find(symbol) : symbols.end();
               ShapedType::isDynamic(size) && fixed != symbols.end())
        size = fixed->second;
      if (ShapedType::isDynamic(size))
        dims.push_back(symbol ? symbol : builder.getStringAttr(""));
      else
        dims.push_back(builder.getI64IntegerAttr(size));
    }
    argument.setType(RankedTensorType::get(shape, tensor.getElementType()));
    function.setArgAttr(i, onnx::kDimsAttr, builder.getArrayAttr(dims));
  }

  //===-- Equal sizes -------------------------------------------------------------------------===//

  /// A side of an equality: a dimension of an argument, an open size or a number.
  struct Side {
    StringRef text;
    std::optional<std::pair<unsigned, unsigned>> dimension;
    StringAttr symbol; // of an open size, where it has a name
    std::optional<int64_t> number;
  };

  FailureOr<Side> resolve(StringRef text) {
    Side side{text, std::nullopt, StringAttr(), std::nullopt};
    if (int64_t number; !text.getAsInteger(10, number) && number >= 0) {
      side.number = number;
      return side;
    }
    if (llvm::is_contained(openSizes(function), text)) {
      side.symbol = StringAttr::get(function.getContext(), text);
      return side;
    }
    auto dimension = asDimension(text);
    std::optional<unsigned> argument;
    for (unsigned i = 0; dimension && i < function.getNumArguments(); ++i)
      if (nameOf(i) == dimension->first)
        argument = i;
    if (!argument)
      return unknown("no dimension and no open size '" + text + "'");
    auto error = [&] {
      return emitError(function.getLoc())
             << option << ": " << text << ": input '" << nameOf(*argument) << "' ";
    };
    Type type = function.getArgument(*argument).getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor && isa<UnrankedTensorType>(type))
      return error() << "is of any rank in the model; --shapes=" << nameOf(*argument)
                     << ":?x? gives it two dimensions";
    if (!tensor)
      return error() << "is not a tensor";
    if (dimension->second >= uint64_t(tensor.getRank()))
      return error() << "has " << tensor.getRank() << " dimension"
                     << (tensor.getRank() == 1 ? "" : "s") << "; indices begin with 0";
    auto d = static_cast<unsigned>(dimension->second);
    side.dimension = {*argument, d};
    side.symbol = symbolOf(function, *argument, d);
    if (!tensor.isDynamicDim(d))
      side.number = tensor.getDimSize(d);
    return side;
  }

  /// A name for a size that has none.
  StringAttr freshSymbol(StringRef wanted) {
    std::vector<std::string> taken = openSizes(function);
    std::string name = wanted.str();
    while (llvm::is_contained(taken, name))
      name += "_";
    return StringAttr::get(function.getContext(), name);
  }

  void setDimension(unsigned i, unsigned d, Attribute size) {
    Value argument = function.getArgument(i);
    auto tensor = cast<RankedTensorType>(argument.getType());
    Builder b(function.getContext());
    SmallVector<int64_t> shape(tensor.getShape());
    SmallVector<Attribute> dims;
    for (auto [at, known] : llvm::enumerate(shape)) {
      StringAttr symbol = symbolOf(function, i, at);
      dims.push_back(!ShapedType::isDynamic(known) ? Attribute(b.getI64IntegerAttr(known))
                     : symbol                      ? Attribute(symbol)
                                                   : b.getStringAttr(""));
    }
    dims[d] = size;
    auto number = dyn_cast<IntegerAttr>(size);
    shape[d] = number ? number.getInt() : ShapedType::kDynamic;
    argument.setType(RankedTensorType::get(shape, tensor.getElementType()));
    function.setArgAttr(i, onnx::kDimsAttr, b.getArrayAttr(dims));
  }

  /// Makes the sides one size: a number if one of them is, else a name.
  LogicalResult equate(ArrayRef<std::string> texts) {
    SmallVector<Side> sides;
    const Side *number = nullptr;
    StringAttr symbol;
    for (const std::string &text : texts) {
      FailureOr<Side> side = resolve(text);
      if (failed(side))
        return failure();
      sides.push_back(*side);
    }
    for (const Side &side : sides) {
      if (side.number && number && *side.number != *number->number)
        return emitError(function.getLoc())
               << option << ": '" << number->text << "' and '" << side.text
               << "' are not equal: " << *number->number << " and " << *side.number;
      if (side.number && !number)
        number = &side;
      if (side.symbol && !symbol)
        symbol = side.symbol;
    }
    Builder b(function.getContext());
    if (!symbol)
      symbol = freshSymbol(sides.front().text);
    Attribute size = number ? Attribute(b.getI64IntegerAttr(*number->number)) : symbol;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto tensor = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
      for (unsigned d = 0; tensor && d < tensor.getRank(); ++d)
        if (llvm::any_of(sides, [&](const Side &side) {
              bool isNamed = side.symbol && side.symbol == symbolOf(function, i, d);
              return tensor.isDynamicDim(d) && (isNamed || side.dimension == std::pair(i, d));
            }))
          setDimension(i, d, size);
    }
    return success();
  }
};

} // namespace

LogicalResult cameo::fixInputShapes(ModuleOp module, const InputShapes &shapes, StringRef option) {
  auto functions = module.getOps<func::FuncOp>();
  if (shapes.empty() || functions.empty())
    return success();
  ShapeFixer fixer{*functions.begin(), option};
  llvm::StringMap<unsigned> arguments;
  for (unsigned i = 0; i < fixer.function.getNumArguments(); ++i)
    arguments[fixer.nameOf(i)] = i;
  for (auto &[name, shape] : shapes.sizes)
    if (!arguments.contains(name) && failed(fixer.fixSymbol(name, shape)))
      return failure();
  for (auto &[name, shape] : shapes.sizes)
    if (auto argument = arguments.find(name);
        argument != arguments.end() && failed(fixer.collect(argument->second, shape)))
      return failure();
  for (unsigned i = 0; i < fixer.function.getNumArguments(); ++i) {
    auto given = shapes.sizes.find(fixer.nameOf(i).str());
    fixer.apply(i, given == shapes.sizes.end() ? nullptr : &given->second);
  }
  for (const std::vector<std::string> &sides : shapes.equal)
    if (failed(fixer.equate(sides)))
      return failure();
  Block &body = fixer.function.getBody().front();
  fixer.function.setFunctionType(FunctionType::get(module.getContext(), body.getArgumentTypes(),
                                                   fixer.function.getResultTypes()));
  return success();
}
