// A fault on purpose at import: one attribute ignored, or one optional input taken for absent.
//
//   CAMEO_MUTANT=Conv:dilations     Conv(x, w) {dilations = [2, 2]}  ==>  Conv(x, w)
//
// What reads attributes and inputs, from the conversion of opsets to the kernels, sees a node that never had them, as if
// all of it had forgotten them alike: rules of shapes agree with what is computed, and only results can tell.
//
// SPDX-License-Identifier: Apache-2.0
#ifdef CAMEO_ATTRIBUTE_MUTANTS
#include "dialects/onnx/AttributeMutant.h"
#include "dialects/onnx/AttributeValues.h"
#include "dialects/onnx/OpsetConversion.h"
#include <cstdlib>

using namespace cameo::onnx;
using namespace cameo::onnx_proto;
using llvm::StringRef;

namespace {
class AttributeMutant {
public:
  AttributeMutant(StringRef op, StringRef fault) : op(op), fault(fault) {}

  template <typename Body, typename Opsets> void apply(Body &body, const Opsets &opsets) const {
    int64_t opset = 0;
    for (const OperatorSetIdProto &import : opsets)
      if (import.domain().empty() || import.domain() == "ai.onnx")
        opset = import.version();
    applyToNodes(body, opset);
  }

private:
  template <typename Body> void applyToNodes(Body &body, int64_t opset) const {
    for (NodeProto &node : *body.mutable_node()) {
      if (node.op_type() == op && (node.domain().empty() || node.domain() == "ai.onnx"))
        change(node, opset);
      for (AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g())
          applyToNodes(*attribute.mutable_g(), opset);
    }
  }

  void change(NodeProto &node, int64_t opset) const {
    int position = 0;
    if (!fault.getAsInteger(10, position)) {
      if (position < node.input_size())
        node.set_input(position, "");
      return;
    }
    for (int i = 0; i < node.attribute_size(); ++i) {
      AttributeProto &attribute = *node.mutable_attribute(i);
      if (attribute.name() == fault && !(isRequired(opset) && makeGreater(attribute))) {
        node.mutable_attribute()->DeleteSubrange(i, 1);
        return;
      }
    }
  }

  bool isRequired(int64_t opset) const {
    const ConversionRow *row = lookupConversion(op, opset);
    return row && llvm::any_of(attributeVersions(op), [&](const AttributeVersion &known) {
             return known.name == fault && known.required && known.first <= row->sinceVersion &&
                    row->sinceVersion <= known.last;
           });
  }

  /// A number, or the first of a list; false of what is none.
  static bool makeGreater(AttributeProto &attribute) {
    if (attribute.has_i())
      attribute.set_i(attribute.i() + 1);
    else if (attribute.has_f())
      attribute.set_f(attribute.f() + 1);
    else if (attribute.ints_size())
      attribute.set_ints(0, attribute.ints(0) + 1);
    else if (attribute.floats_size())
      attribute.set_floats(0, attribute.floats(0) + 1);
    else
      return false;
    return true;
  }

  StringRef op, fault;
};
} // namespace

void cameo::onnx::applyAttributeMutant(ModelProto &model) {
  const char *chosen = std::getenv("CAMEO_MUTANT");
  auto [op, fault] = StringRef(chosen ? chosen : "").split(':');
  if (fault.empty())
    return;
  AttributeMutant mutant(op, fault);
  mutant.apply(*model.mutable_graph(), model.opset_import());
  for (FunctionProto &function : *model.mutable_functions())
    mutant.apply(function, function.opset_import());
}
#endif
