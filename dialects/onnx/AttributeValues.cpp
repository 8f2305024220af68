// What ONNX says of the values of attributes. What depends on ranks and sizes is checked where
// these are known, in the operators' lowerings; what can be told from the value alone is in this
// table. SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/AttributeValues.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
namespace cameo::onnx {
namespace {

#include "dialects/onnx/AttributeVersions.inc"

struct ValueRule;
/// What the rule allows, where the value is not of it; else empty.
using Check = std::string (*)(Attribute, const ValueRule &);

struct ValueRule {
  const char *ops; // separated by spaces; every operator where empty
  const char *attribute;
  Check check;
  const char *words = ""; // separated by spaces
  int64_t least = 0, most = 0;
  int64_t first = 0, last = 1000; // versions of the operators
};

/// The numbers of an int or a list of ints.
SmallVector<int64_t> integersOf(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return {number.getInt()};
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return SmallVector<int64_t>(list.asArrayRef());
  return {};
}

std::string oneOf(Attribute value, const ValueRule &rule) {
  auto text = dyn_cast<StringAttr>(value);
  SmallVector<StringRef> words;
  StringRef(rule.words).split(words, ' ');
  if (!text || llvm::is_contained(words, text.getValue()))
    return "";
  std::string allowed = "it must be ";
  for (auto [i, word] : llvm::enumerate(words))
    allowed += (Twine(i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + "'" + word + "'").str();
  return allowed;
}

std::string flag(Attribute value, const ValueRule &) {
  return llvm::all_of(integersOf(value), [](int64_t v) { return v == 0 || v == 1; })
             ? ""
             : "it must be 0 or 1";
}

std::string notBelow(Attribute value, const ValueRule &rule) {
  if (llvm::all_of(integersOf(value), [&](int64_t v) { return v >= rule.least; }))
    return "";
  std::string limit = std::to_string(rule.least) + " or more";
  return (isa<IntegerAttr>(value) ? "it must be " : "each must be ") + limit;
}

std::string notEmpty(Attribute value, const ValueRule &) {
  return integersOf(value).empty() ? "it must have at least one number" : "";
}

std::string oneNumber(Attribute value, const ValueRule &) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getNumElements() != 1 ? "it must hold one number" : "";
}

std::string between(Attribute value, const ValueRule &rule) {
  for (int64_t v : integersOf(value))
    if (v < rule.least || v > rule.most)
      return "it must be " + std::to_string(rule.least) + " to " + std::to_string(rule.most);
  return "";
}

std::string typeNumber(Attribute value, const ValueRule &rule) {
  for (int64_t v : integersOf(value))
    if (!elementKindOfNumber(v) && (v != 0 || rule.least != 0))
      return "it must number a type of TensorProto.DataType";
  return "";
}

std::string floatTypeNumber(Attribute value, const ValueRule &) {
  for (int64_t v : integersOf(value)) {
    std::optional<ElementKind> kind = elementKindOfNumber(v);
    if (kind != ElementKind::F32 && kind != ElementKind::F64 && kind != ElementKind::F16 &&
        kind != ElementKind::BF16)
      return "it must number a floating-point type of TensorProto.DataType: 1 (float), 10 "
             "(float16), "
             "11 (double) or 16 (bfloat16)";
  }
  return "";
}

std::string permutation(Attribute value, const ValueRule &) {
  SmallVector<int64_t> perm = integersOf(value);
  int64_t rank = perm.size();
  llvm::SmallBitVector seen(rank);
  for (int64_t axis : perm)
    if (axis >= 0 && axis < rank)
      seen.set(axis);
  return seen.all() ? "" : "it must have each of 0 to " + std::to_string(rank - 1) + " once";
}

/// [0, 1)
std::string share(Attribute value, const ValueRule &) {
  auto number = dyn_cast<FloatAttr>(value);
  double ratio = number ? number.getValueAsDouble() : 0;
  return ratio >= 0 && ratio < 1 ? "" : "it must be 0 or more and less than 1";
}

std::string notNegative(Attribute value, const ValueRule &) {
  auto number = dyn_cast<FloatAttr>(value);
  return !number || number.getValueAsDouble() >= 0 ? "" : "it must be 0 or more";
}

std::string eachOneOrMore(Attribute value, const ValueRule &) {
  auto list = dyn_cast<DenseF32ArrayAttr>(value);
  return !list || llvm::all_of(list.asArrayRef(), [](float v) { return v >= 1; })
             ? ""
             : "each must be 1 or more";
}

constexpr const char *kWindowed =
    "AveragePool Conv ConvInteger ConvTranspose DeformConv LpPool MaxPool QLinearConv";

// By check. Versions are given where a later text says something else.
// clang-format off
constexpr ValueRule rules[] = {
    {"", "auto_pad", oneOf, "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {"BitShift", "direction", oneOf, "LEFT RIGHT"},
    {"Cast CastLike", "round_mode", oneOf, "up down nearest"},
    {"DepthToSpace", "mode", oneOf, "DCR CRD"},
    {"GRU LSTM RNN", "direction", oneOf, "forward reverse bidirectional"},
    {"Gelu", "approximate", oneOf, "none tanh"},
    {"GridSample", "mode", oneOf, "bilinear nearest bicubic", 0, 0, 16, 19},
    {"GridSample", "mode", oneOf, "linear nearest cubic", 0, 0, 20},
    {"GridSample", "padding_mode", oneOf, "zeros border reflection"},
    {"Pad", "mode", oneOf, "constant reflect edge", 0, 0, 2, 18},
    {"Pad", "mode", oneOf, "constant reflect edge wrap", 0, 0, 19},
    {"Resize", "mode", oneOf, "nearest linear", 0, 0, 10, 10},
    {"Resize", "mode", oneOf, "nearest linear cubic", 0, 0, 11},
    {"Resize", "nearest_mode", oneOf, "round_prefer_floor round_prefer_ceil floor ceil"},
    {"Resize", "coordinate_transformation_mode", oneOf,
     "half_pixel pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn "
     "tf_crop_and_resize", 0, 0, 11, 11},
    {"Resize", "coordinate_transformation_mode", oneOf,
     "half_pixel pytorch_half_pixel align_corners asymmetric tf_crop_and_resize", 0, 0, 13, 18},
    {"Resize", "coordinate_transformation_mode", oneOf,
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
     "tf_crop_and_resize", 0, 0, 19},
    {"Resize", "keep_aspect_ratio_policy", oneOf, "stretch not_larger not_smaller"},
    {"RoiAlign", "coordinate_transformation_mode", oneOf, "half_pixel output_half_pixel"},
    {"RoiAlign", "mode", oneOf, "avg max"},
    {"Upsample", "mode", oneOf, "nearest linear"},
    {"TensorScatter", "mode", oneOf, "linear circular"},
    {"TfIdfVectorizer", "mode", oneOf, "TF IDF TFIDF"},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction", oneOf, "none sum mean"},
    {"ScatterElements ScatterND", "reduction", oneOf, "none add mul", 0, 0, 16, 17},
    {"ScatterElements ScatterND", "reduction", oneOf, "none add mul max min", 0, 0, 18},

    {"", "align_corners", flag}, {"", "allowzero", flag}, {"", "antialias", flag}, {"", "ceil_mode", flag},
    {"", "count_include_pad", flag}, {"", "detect_negative", flag}, {"", "detect_positive", flag},
    {"", "exclude_outside", flag}, {"", "exclusive", flag}, {"", "fmod", flag}, {"", "is_causal", flag},
    {"", "keepdims", flag}, {"", "noop_with_empty_axes", flag}, {"", "reverse", flag},
    {"", "saturate", flag}, {"", "select_last_index", flag}, {"", "spatial", flag},
    {"", "storage_order", flag}, {"", "training_mode", flag}, {"", "transA", flag},
    {"", "transB", flag}, {"", "upper", flag}, {"", "inverse", flag},
    {"", "onesided", flag}, {"", "periodic", flag}, {"", "interleaved", flag},
    {"", "input_forget", flag}, {"", "linear_before_reset", flag}, {"GRU LSTM RNN", "layout", flag},
    {"", "largest", flag}, {"", "sorted", flag}, {"", "center_point_box", flag},
    {"", "new_axis", flag}, {"", "scan_input_directions", flag}, {"", "scan_output_directions", flag},
    {"Scan", "directions", flag},

    {kWindowed, "dilations", notBelow, "", 1},
    {kWindowed, "kernel_shape", notBelow, "", 1},
    {kWindowed, "pads", notBelow, "", 0},
    {kWindowed, "strides", notBelow, "", 1},
    {"Col2Im", "dilations", notBelow, "", 1},
    {"Col2Im MaxUnpool", "pads", notBelow, "", 0},
    {"Col2Im MaxUnpool", "strides", notBelow, "", 1},
    {"MaxUnpool", "kernel_shape", notBelow, "", 1},
    {"", "group", notBelow, "", 1},
    {"ConvTranspose", "output_padding", notBelow, "", 0},
    {"ConvTranspose", "output_shape", notBelow, "", 0},
    {"DepthToSpace SpaceToDepth", "blocksize", notBelow, "", 1},
    {"DequantizeLinear QuantizeLinear", "block_size", notBelow, "", 0},
    {"GatherND", "batch_dims", notBelow, "", 0},
    {"GlobalLpPool LpPool", "p", notBelow, "", 1},
    {"GroupNormalization", "num_groups", notBelow, "", 1},
    {"GRU LSTM RNN", "hidden_size", notBelow, "", 1},
    {"LRN", "size", notBelow, "", 1},
    {"Attention", "kv_num_heads", notBelow, "", 1},
    {"Attention", "q_num_heads", notBelow, "", 1},
    {"DeformConv", "offset_group", notBelow, "", 1},
    {"MaxRoiPool", "pooled_shape", notBelow, "", 1},
    {"RoiAlign", "output_height", notBelow, "", 1},
    {"RoiAlign", "output_width", notBelow, "", 1},
    {"RoiAlign", "sampling_ratio", notBelow, "", 0},
    {"Multinomial", "sample_size", notBelow, "", 1},
    {"RandomNormal RandomUniform", "shape", notBelow, "", 0},
    {"Split", "num_outputs", notBelow, "", 1},
    {"TfIdfVectorizer", "min_gram_length", notBelow, "", 1},
    {"TfIdfVectorizer", "max_gram_length", notBelow, "", 1},
    {"TfIdfVectorizer", "max_skip_count", notBelow, "", 0},
    {"TfIdfVectorizer", "ngram_counts", notBelow, "", 0},
    {"TfIdfVectorizer", "ngram_indexes", notBelow, "", 0},
    {"Split", "split", notBelow, "", 0},
    {"Flatten", "axis", notBelow, "", 0, 0, 1, 9},
    {"Squeeze Unsqueeze", "axes", notBelow, "", 0, 0, 1, 1},
    {"MeanVarianceNormalization", "axes", notEmpty},
    {"LpNormalization", "p", between, "", 1, 2},
    {"ReverseSequence", "batch_axis", between, "", 0, 1},
    {"ReverseSequence", "time_axis", between, "", 0, 1},
    {"Attention", "qk_matmul_output_mode", between, "", 0, 3},

    {"", "to", typeNumber, "", 1}, {"", "dtype", typeNumber, "", 1},
    {"", "output_datatype", typeNumber, "", 1},
    // 0 is the default: no type is said.
    {"", "output_dtype", typeNumber, "", 0}, {"QuantizeLinear", "precision", typeNumber, "", 0},
    {"GroupNormalization LayerNormalization RMSNormalization", "stash_type", floatTypeNumber},
    {"Attention", "softmax_precision", floatTypeNumber},
    {"ConstantOfShape", "value", oneNumber},
    {"Transpose", "perm", permutation},
    {"Dropout", "ratio", share},
    {"RandomNormal RandomNormalLike", "scale", notNegative},
    {"Upsample", "scales", eachOneOrMore},
};
// clang-format on

constexpr bool isText(StringRef name, const char *text, size_t length) {
  if (name.size() != length)
    return false;
  for (size_t i = 0; i < length; ++i)
    if (name.data()[i] != text[i])
      return false;
  return true;
}

/// True where a version of the operator that the rule is of has the attribute; of every operator without a name.
constexpr bool isKnown(const ValueRule &rule, const char *op, size_t length) {
  size_t attributeLength = std::char_traits<char>::length(rule.attribute);
  for (const AttributeVersion &version : versions)
    if (isText(version.name, rule.attribute, attributeLength) &&
        (length == 0 || isText(version.op, op, length)) && version.first <= rule.last &&
        version.last >= rule.first)
      return true;
  return false;
}

/// True where each operator that the rule names has the attribute.
constexpr bool isKnown(const ValueRule &rule) {
  const char *begin = rule.ops;
  while (true) {
    const char *end = begin;
    while (*end && *end != ' ')
      ++end;
    if (!isKnown(rule, begin, end - begin))
      return false;
    if (!*end)
      return true;
    begin = end + 1;
  }
}

constexpr bool areKnown(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (!isKnown(rules[i]))
      return false;
  return true;
}
// In parts: what a compiler computes for one assertion is bounded.
constexpr size_t kThird = std::size(rules) / 3;
static_assert(areKnown(0, kThird) && areKnown(kThird, 2 * kThird) &&
                  areKnown(2 * kThird, std::size(rules)),
              "a rule is of an operator or attribute that ONNX has not");

struct VersionIndex {
  llvm::StringMap<ArrayRef<AttributeVersion>> versionsOf;
  /// By attribute.
  llvm::StringMap<SmallVector<const ValueRule *, 4>> rulesOf;

  VersionIndex() {
    ArrayRef<AttributeVersion> all(versions);
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && all[end].op == all[begin].op)
        ++end;
      versionsOf[all[begin].op] = all.slice(begin, end - begin);
    }
    for (const ValueRule &rule : rules)
      rulesOf[rule.attribute].push_back(&rule);
  }
};

const VersionIndex &index() {
  static const VersionIndex instance;
  return instance;
}

StringRef kindName(AttrKind kind) {
  switch (kind) {
  case AttrKind::Int:
    return "an int";
  case AttrKind::Ints:
    return "a list of ints";
  case AttrKind::Float:
    return "a float";
  case AttrKind::Floats:
    return "a list of floats";
  case AttrKind::String:
    return "a string";
  case AttrKind::Strings:
    return "a list of strings";
  case AttrKind::Tensor:
    return "a tensor";
  case AttrKind::Graph:
    return "a graph";
  case AttrKind::Type:
    return "a type";
  case AttrKind::SparseTensor:
    return "a sparse tensor";
  }
  llvm_unreachable("all kinds are listed");
}

std::string floatText(const llvm::APFloat &number) {
  llvm::SmallString<16> text;
  number.toString(text);
  return std::string(text);
}

std::string valueText(Attribute value) {
  if (auto string = dyn_cast<StringAttr>(value))
    return ("'" + string.getValue() + "'").str();
  if (auto number = dyn_cast<FloatAttr>(value))
    return floatText(number.getValue());
  if (isa<IntegerAttr>(value))
    return std::to_string(integersOf(value).front());
  if (auto elements = dyn_cast<ElementsAttr>(value); elements && !isa<DenseArrayAttr>(value))
    return typeText(elements.getType());
  SmallVector<std::string> items;
  if (auto floats = dyn_cast<DenseF32ArrayAttr>(value))
    for (float item : floats.asArrayRef())
      items.push_back(floatText(llvm::APFloat(item)));
  for (int64_t item : integersOf(value))
    items.push_back(std::to_string(item));
  return "[" + llvm::join(items, ", ") + "]";
}

bool names(StringRef list, StringRef word) {
  SmallVector<StringRef> words;
  list.split(words, ' ');
  return llvm::is_contained(words, word);
}

} // namespace

ArrayRef<AttributeVersion> attributeVersions(StringRef op) { return index().versionsOf.lookup(op); }

std::string attributeKindProblem(StringRef op, int64_t version, StringRef name, AttrKind kind) {
  const AttributeVersion *other = nullptr;
  for (const AttributeVersion &known : attributeVersions(op)) {
    if (known.name != name)
      continue;
    other = &known;
    if (known.first > version || version > known.last)
      continue;
    if (known.kind == kind)
      return "";
    return ("has the attribute '" + name + "' of the wrong kind: it is " + kindName(kind) +
            " and must be " + kindName(known.kind))
        .str();
  }
  std::string text = ("has the unknown attribute '" + name + "'").str();
  if (!other)
    return text;
  return text + (other->first > version
                     ? ", known from version " + std::to_string(other->first) + " of it on"
                     : ", known up to version " + std::to_string(other->last) + " of it");
}

std::string attributeValueProblem(StringRef op, int64_t version, StringRef name, Attribute value) {
  auto found = index().rulesOf.find(name);
  if (found == index().rulesOf.end())
    return "";
  for (const ValueRule *rule : found->second) {
    if (version < rule->first || version > rule->last || (*rule->ops && !names(rule->ops, op)))
      continue;
    if (std::string allowed = rule->check(value, *rule); !allowed.empty())
      return ("has the attribute '" + name + "' = ").str() + valueText(value) + "; " + allowed;
  }
  return "";
}

} // namespace cameo::onnx
