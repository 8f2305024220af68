// Arguments of the entry function ==> constants.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/InputValues.h"

#include "codegen/InputShapes.h"
#include "codegen/calibrate/ArrayFile.h"
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/Schema.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace cameo;
using llvm::APFloat;
using llvm::APInt;

//===-- Text ----------------------------------------------------------------------------------===//

static bool isNumber(StringRef text) {
  if (text == "true" || text == "false")
    return true;
  APFloat number(APFloat::IEEEquad());
  llvm::Expected<APFloat::opStatus> status =
      number.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status)
    llvm::consumeError(status.takeError());
  return bool(status);
}

namespace {

/// A decimal number, whose digits neither begin nor end with 0: 0.digits times ten to the exponent.
struct Decimal {
  bool isNegative = false;
  std::string digits;
  int64_t exponent = 0;

  static std::optional<Decimal> of(StringRef text) {
    Decimal number;
    number.isNegative = text.consume_front("-");
    if (!number.isNegative)
      text.consume_front("+");
    size_t mark = text.find_first_of("eE");
    if (mark != StringRef::npos && text.drop_front(mark + 1).getAsInteger(10, number.exponent) &&
        text.drop_front(mark + 2).getAsInteger(10, number.exponent)) // behind a plus sign
      return std::nullopt;
    auto [whole, fraction] = text.take_front(mark).split('.');
    number.digits = (whole + fraction).str();
    if (StringRef(number.digits).find_first_not_of("0123456789") != StringRef::npos)
      return std::nullopt;
    number.exponent += int64_t(whole.size());
    size_t zeros = std::min(number.digits.find_first_not_of('0'), number.digits.size());
    number.digits.erase(0, zeros);
    number.digits.erase(number.digits.find_last_not_of('0') + 1);
    number.exponent = number.digits.empty() ? 0 : number.exponent - int64_t(zeros);
    return number;
  }

  bool operator==(const Decimal &other) const {
    return isNegative == other.isNegative && digits == other.digits && exponent == other.exponent;
  }
};

} // namespace

/// The numbers that `text` begins with, of which it keeps what follows the comma behind them; nothing
/// where it does not begin with numbers up to a comma or its end.
static std::optional<std::vector<std::string>> takeNumbers(StringRef &text) {
  std::vector<std::string> numbers;
  for (bool isFirst = true;; isFirst = false) {
    auto [piece, rest] = text.split(',');
    SmallVector<StringRef> words;
    piece.split(words, ' ', -1, /*KeepEmpty=*/false);
    // Another input's name begins where numbers end.
    if (!llvm::all_of(words, isNumber) || (!isFirst && words.empty()))
      return isFirst ? std::nullopt : std::optional(std::move(numbers));
    for (StringRef word : words)
      numbers.push_back(word.str());
    bool isLast = piece.size() == text.size();
    text = isLast ? StringRef() : rest;
    if (isLast)
      return numbers;
  }
}

/// The one array of a file.
static llvm::Expected<InputValue> readArray(StringRef path) {
  InputValue value;
  value.file = path.str();
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  auto places = listArrays(**file);
  if (!places)
    return places.takeError();
  auto array = ArrayReader::open(*file, places->front());
  if (!array)
    return array.takeError();
  value.type = (*array)->dtype();
  value.shape.assign((*array)->shape().begin(), (*array)->shape().end());
  uint64_t bytes = (*array)->elementBytes();
  for (int64_t size : value.shape)
    bytes *= uint64_t(size);
  if (bytes > (*file)->size())
    return llvm::createStringError("'" + path + "': ends before its last element");
  value.bytes.resize(bytes);
  if (llvm::Error error = (*array)->read(value.bytes))
    return std::move(error);
  return value;
}

/// One "name=numbers" or "name=@file.npy", and the comma behind it. Names may hold commas and equals signs.
static llvm::Error takeEntry(StringRef &text, InputValues &values) {
  for (size_t at = text.find('='); at != StringRef::npos; at = text.find('=', at + 1)) {
    StringRef name = text.take_front(at), rest = text.drop_front(at + 1);
    InputValue value;
    if (rest.consume_front("@")) {
      size_t end = rest.find(".npy,");
      StringRef path = end == StringRef::npos ? rest : rest.take_front(end + 4);
      if (!path.ends_with(".npy"))
        return llvm::createStringError("'" + path + "' in '" + text + "' is no .npy file");
      rest = rest.drop_front(path.size());
      rest.consume_front(",");
      if (llvm::Error error = readArray(path).moveInto(value))
        return error;
    } else {
      std::optional<std::vector<std::string>> numbers = takeNumbers(rest);
      if (!numbers)
        continue;
      value.numbers = std::move(*numbers);
    }
    if (name.empty())
      return llvm::createStringError("no name stands before '" + text.drop_front(at) + "'");
    text = rest;
    if (!values.try_emplace(name.str(), std::move(value)).second)
      return llvm::createStringError("it gives '" + name + "' twice");
    return llvm::Error::success();
  }
  auto [name, numbers] = text.rsplit('=');
  if (name.empty() || !text.contains('='))
    return llvm::createStringError(
        "'" + text + "' is not of the form input=16000, input=1,3,224,224 or input=@file.npy");
  return llvm::createStringError("'" + numbers + "' in '" + text +
                                 "' is neither a number nor a list of numbers");
}

llvm::Error cameo::parseInputValues(StringRef text, InputValues &values) {
  do {
    if (llvm::Error error = takeEntry(text, values))
      return error;
  } while (!text.empty());
  return llvm::Error::success();
}

uint64_t cameo::hashOfInputValues(const InputValues &values) {
  std::string all;
  for (const auto &[name, value] : values) {
    all += name + '\0' + llvm::join(value.numbers, ",") + '\0' + sizesText(value.shape) + '\0';
    all.append(value.bytes.begin(), value.bytes.end());
  }
  return values.empty() ? 0 : llvm::xxh3_64bits(all);
}

//===-- Numbers -------------------------------------------------------------------------------===//

namespace {

/// Elements of one type, made of texts and told as text.
class Elements {
public:
  explicit Elements(Type type) : type(type) {}

  /// Integers and booleans of bytes, and floats that are no narrower than 16 bits.
  bool areSupported() const {
    if (auto integer = dyn_cast<IntegerType>(type))
      return integer.getWidth() == 1 || integer.getWidth() >= 8;
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() >= 16;
  }

  /// Appends the bytes of a number, exactly that.
  llvm::Error append(StringRef text, std::vector<char> &bytes) const {
    llvm::Expected<APInt> bits = parse(text);
    if (!bits)
      return bits.takeError();
    for (unsigned byte = 0; byte < bits->getBitWidth() / 8; ++byte)
      bytes.push_back(char(bits->extractBitsAsZExtValue(8, byte * 8)));
    return llvm::Error::success();
  }

  /// The element at `bytes`.
  std::string text(const char *bytes) const {
    unsigned width = this->width();
    APInt bits(width, 0);
    for (unsigned byte = 0; byte < width / 8; ++byte)
      bits.insertBits(uint64_t(uint8_t(bytes[byte])), byte * 8, 8);
    if (type.isInteger(1))
      return bits.isZero() ? "false" : "true";
    if (auto real = dyn_cast<FloatType>(type)) {
      SmallString<32> digits;
      APFloat(real.getFloatSemantics(), bits).toString(digits);
      return digits.str().str();
    }
    return llvm::toString(bits, 10, !type.isUnsignedInteger());
  }

private:
  unsigned width() const { return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth(); }

  llvm::Expected<APInt> parse(StringRef text) const {
    if (type.isInteger(1)) {
      if (text == "true" || text == "1" || text == "false" || text == "0")
        return APInt(8, text == "true" || text == "1");
      return problem(text, "is no boolean: true or 1, false or 0");
    }
    return isa<FloatType>(type) ? parseFloat(text) : parseInteger(text);
  }

  llvm::Expected<APInt> parseInteger(StringRef text) const {
    StringRef digits = text;
    bool isNegative = digits.consume_front("-");
    if (!isNegative)
      digits.consume_front("+");
    // Wide enough for what a command line has of digits: a decimal has fewer than four bits.
    APInt number(4 * unsigned(digits.size()) + 66, 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != StringRef::npos)
      return problem(text, "is no integer");
    number = APInt(number.getBitWidth(), digits, 10);
    if (isNegative)
      number.negate();
    bool isUnsigned = type.isUnsignedInteger();
    APInt least = isUnsigned ? APInt::getMinValue(width()) : APInt::getSignedMinValue(width());
    APInt most = isUnsigned ? APInt::getMaxValue(width()) : APInt::getSignedMaxValue(width());
    auto widened = [&](const APInt &bound) {
      return isUnsigned ? bound.zext(number.getBitWidth()) : bound.sext(number.getBitWidth());
    };
    if (number.slt(widened(least)) || number.sgt(widened(most)))
      return problem(text, "is beyond " + llvm::toString(least, 10, !isUnsigned) + " to " +
                               llvm::toString(most, 10, !isUnsigned));
    return number.trunc(width());
  }

  llvm::Expected<APInt> parseFloat(StringRef text) const {
    const llvm::fltSemantics &format = cast<FloatType>(type).getFloatSemantics();
    APFloat number(format);
    llvm::Expected<APFloat::opStatus> status =
        number.convertFromString(text, APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return problem(text, "is no number");
    }
    auto exactly = [](const APFloat &value) {
      SmallString<64> digits;
      value.toString(digits, /*FormatPrecision=*/2000, /*FormatMaxPadding=*/60);
      return digits.str().str();
    };
    if (*status & APFloat::opOverflow)
      return problem(text, "is beyond " + exactly(APFloat::getLargest(format)));
    // Many digits are said to be rounded where they are not.
    bool isRounded =
        *status != APFloat::opOK && !(Decimal::of(text) == Decimal::of(exactly(number)));
    if (isRounded)
      return problem(text, "is none exactly; the nearest is " + exactly(number));
    return number.bitcastToAPInt();
  }

  llvm::Error problem(StringRef text, const Twine &what) const {
    return llvm::createStringError("'" + text + "' " + what + "; its elements are of type " +
                                   onnx::elementText(type));
  }

  Type type;
};

class ValueFixer {
public:
  explicit ValueFixer(ModuleOp module)
      : module(module), function(*module.getOps<func::FuncOp>().begin()) {}

  LogicalResult fix(StringRef name, const InputValue &value) {
    std::optional<unsigned> found = find(name);
    if (!found)
      return unknown(name);
    auto tensor = dyn_cast<TensorType>(function.getArgument(*found).getType());
    if (!tensor)
      return error(name) << "is no tensor";
    Elements elements(tensor.getElementType());
    if (!elements.areSupported())
      return error(name)
             << "has elements of type " << onnx::elementText(tensor.getElementType())
             << "; booleans, integers of 8 to 64 bits and floats of 16 to 64 bits can be fixed";
    FailureOr<SmallVector<int64_t>> shape = shapeOf(name, tensor, value);
    if (failed(shape) ||
        failed(fixInputShapes(module, {{{name.str(), *shape}}, {}}, "--shape-values")))
      return failure();
    std::vector<char> bytes = value.bytes;
    for (const std::string &number : value.numbers)
      if (llvm::Error problem = elements.append(number, bytes))
        return error(name) << "takes no such number: " << llvm::toString(std::move(problem));
    replace(*found, RankedTensorType::get(*shape, tensor.getElementType()), bytes);
    return success();
  }

  /// Notes in the module what has been fixed.
  void note() {
    if (!noted.empty())
      module->setAttr(onnx::kFixedAttr, noted.getDictionary(module.getContext()));
  }

private:
  StringRef nameOf(unsigned i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, onnx::kNameAttr);
    return name ? name.getValue() : StringRef();
  }

  std::optional<unsigned> find(StringRef name) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (nameOf(i) == name)
        return i;
    return std::nullopt;
  }

  InFlightDiagnostic error(StringRef name) {
    return emitError(function.getLoc()) << "--shape-values: input '" << name << "' ";
  }

  LogicalResult unknown(StringRef name) {
    SmallVector<StringRef> inputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs.push_back(nameOf(i));
    return emitError(function.getLoc())
           << "--shape-values: the model has no input '" << name
           << "'; inputs: " << (inputs.empty() ? "none" : llvm::join(inputs, ", "));
  }

  /// The shape of the constant.
  FailureOr<SmallVector<int64_t>> shapeOf(StringRef name, TensorType tensor,
                                          const InputValue &value) {
    if (!value.file.empty()) {
      auto kind = onnx::elementKind(tensor.getElementType());
      if (!kind || onnx::elementNumber(*kind) != value.type)
        return error(name) << "has elements of type " << onnx::elementText(tensor.getElementType())
                           << ", those of '" << value.file << "' are " << dtypeText(value.type);
      return value.shape;
    }
    auto given = static_cast<int64_t>(value.numbers.size());
    if (!tensor.hasRank())
      return error(name) << "is of any rank in the model: --shapes=" << name
                         << ": makes it a scalar, --shapes=" << name << ":" << given << " a list";
    SmallVector<int64_t> shape(tensor.getShape());
    if (shape.size() == 1 && ShapedType::isDynamic(shape[0]))
      shape[0] = given;
    if (llvm::is_contained(shape, ShapedType::kDynamic))
      return error(name) << "has open sizes, which numbers do not tell: --shapes=" << name
                         << ":... fixes them";
    int64_t wanted = ShapedType::getNumElements(shape);
    if (wanted != given)
      return error(name) << "has " << wanted << " element" << (wanted == 1 ? "" : "s")
                         << " by its shape " << sizesText(shape) << ", not " << given;
    return shape;
  }

  void replace(unsigned i, RankedTensorType type, ArrayRef<char> bytes) {
    std::string name = nameOf(i).str();
    OpBuilder b(module.getContext());
    b.setInsertionPointToStart(&function.getBody().front());
    Location loc = NameLoc::get(b.getStringAttr(name));
    ElementsAttr constant = onnx::makeConstant(type, name, bytes);
    Value value =
        b.create<onnx::ConstantOp>(loc, type, ValueRange(), b.getNamedAttr("value", constant));
    function.getArgument(i).replaceAllUsesWith(value);
    function.eraseArgument(i);
    std::string text = textOf(type, bytes);
    noted.set(name, b.getStringAttr(text));
    emitRemark(loc) << "the input is " << (text.empty() ? "empty" : text)
                    << " in every run, as --shape-values says, and no input of the artefact";
  }

  static std::string textOf(RankedTensorType type, ArrayRef<char> bytes) {
    constexpr int64_t kShown = 32;
    Elements elements(type.getElementType());
    int64_t count = type.getNumElements();
    std::string text;
    for (int64_t i = 0; i < std::min(count, kShown); ++i)
      text += (i ? " " : "") + elements.text(bytes.data() + i * (bytes.size() / count));
    if (count > kShown)
      text += llvm::formatv(" and {0} more", count - kShown);
    return text;
  }

  ModuleOp module;
  func::FuncOp function;
  NamedAttrList noted;
};

} // namespace

LogicalResult cameo::fixInputValues(ModuleOp module, const InputValues &values) {
  if (values.empty() || module.getOps<func::FuncOp>().empty())
    return success();
  ValueFixer fixer(module);
  for (const auto &[name, value] : values)
    if (failed(fixer.fix(name, value)))
      return failure();
  fixer.note();
  return success();
}
