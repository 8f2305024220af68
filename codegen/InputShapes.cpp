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

llvm::Expected<std::map<std::string, SmallVector<int64_t>>> cameo::parseShapes(StringRef value) {
  std::map<std::string, SmallVector<int64_t>> shapes;
  for (bool more = true; more;) {
    // Names may hold colons and commas: what has no sizes behind its last colon is part of a name.
    size_t end = value.find(',');
    while (end != StringRef::npos && !endsWithSizes(value.take_front(end)))
      end = value.find(',', end + 1);
    StringRef text = value.take_front(end);
    more = end != StringRef::npos;
    value = more ? value.drop_front(end + 1) : StringRef();
    auto [name, sizes] = text.rsplit(':');
    if (name.empty() || !text.contains(':'))
      return llvm::createStringError("'" + text +
                                     "' is not of the form input:1x3x224x224 or size:8");
    llvm::Expected<SmallVector<int64_t>> shape = parseSizes(sizes, text);
    if (!shape)
      return shape.takeError();
    if (!shapes.try_emplace(name.str(), std::move(*shape)).second)
      return llvm::createStringError("it gives '" + name + "' twice");
  }
  return shapes;
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

  /// Neither an input nor an open size has the name.
  LogicalResult unknown(StringRef name) {
    SmallVector<StringRef> inputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs.push_back(nameOf(i));
    std::vector<std::string> sizes = openSizes(function);
    return emitError(function.getLoc())
           << option << ": the model has no input and no open size '" << name
           << "'; inputs: " << (inputs.empty() ? "none" : llvm::join(inputs, ", "))
           << "; open sizes: " << (sizes.empty() ? "none" : llvm::join(sizes, ", "));
  }

  /// `shape` of a name that no input has.
  LogicalResult fixSymbol(StringRef name, ArrayRef<int64_t> shape) {
    if (!llvm::is_contained(openSizes(function), name))
      return unknown(name);
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
};

} // namespace

LogicalResult cameo::fixInputShapes(ModuleOp module,
                                    const std::map<std::string, SmallVector<int64_t>> &shapes,
                                    StringRef option) {
  auto functions = module.getOps<func::FuncOp>();
  if (shapes.empty() || functions.empty())
    return success();
  ShapeFixer fixer{*functions.begin(), option};
  llvm::StringMap<unsigned> arguments;
  for (unsigned i = 0; i < fixer.function.getNumArguments(); ++i)
    arguments[fixer.nameOf(i)] = i;
  for (auto &[name, shape] : shapes)
    if (!arguments.contains(name) && failed(fixer.fixSymbol(name, shape)))
      return failure();
  for (auto &[name, shape] : shapes)
    if (auto argument = arguments.find(name);
        argument != arguments.end() && failed(fixer.collect(argument->second, shape)))
      return failure();
  for (unsigned i = 0; i < fixer.function.getNumArguments(); ++i) {
    auto given = shapes.find(fixer.nameOf(i).str());
    fixer.apply(i, given == shapes.end() ? nullptr : &given->second);
  }
  Block &body = fixer.function.getBody().front();
  fixer.function.setFunctionType(FunctionType::get(module.getContext(), body.getArgumentTypes(),
                                                   fixer.function.getResultTypes()));
  return success();
}
