// The onnx dialect: its types, the base of every op, and the ops that are not operators of ONNX.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_ONNX_TD
#define CAMEO_ONNX_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::cameo::onnx";
  let summary = "ONNX at one opset";
  let description = [{
    One op per operator of ONNX's default domain at opset 26, under its own name. Operands stand in
    the order of ONNX's formal inputs; an absent optional one is the result of `onnx.None`, so that
    an operand's number is its ONNX input's number. An absent optional output has type `none`.
    Operators of other domains are `onnx.Custom`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let discardableAttrs = (ins
    // Of a module: the opset.
    "::mlir::IntegerAttr":$opset,
    // Of a module: what the model's file says of itself.
    "::mlir::DictionaryAttr":$model,
    // Numbers of a module's inputs that have become constants, as text.
    "::mlir::DictionaryAttr":$fixed,
    // Of arguments and results of an entry function: what the model calls them.
    "::mlir::StringAttr":$name,
    // Of arguments, of results, and of an op with one list per result: sizes, as numbers or names.
    "::mlir::ArrayAttr":$dims,
    // On an argument of an entry function: the number of the result that becomes it after each run.
    "::mlir::IntegerAttr":$state,
    // Of arguments and results of a lowered function: the shape in the model.
    "::mlir::DenseI64ArrayAttr":$shape,
    // Of arguments and results of a lowered function: the element type in the model.
    "::mlir::TypeAttr":$type,
    // What an older version asks of sizes, which only a lowering knows, on the op that it has
    // become: a Split's parts are equal.
    "::mlir::UnitAttr":$even_split,
    // The same: a Flatten's axis is an axis of what it flattens.
    "::mlir::UnitAttr":$rows,
    // Of an operator of constants that is not folded, because the model has no bytes left for it.
    "::mlir::UnitAttr":$kept_unfolded,
    // Of an operator whose results' shapes the model declares, because inference does not know
    // them.
    "::mlir::UnitAttr":$shape_declared,
    // Of an operator that others stand for where they can: why they do not.
    "::mlir::StringAttr":$unexpanded,
    // Of a Loop that collects parts in chunks, and of the one that makes those of a chunk: why a run makes its trips.
    "::mlir::StringAttr":$in_chunks,
    // Of an Attention that was recognised: the numbers that its nodes computed with.
    "::mlir::DictionaryAttr":$arithmetic,
    // Of a product: how it may be computed.
    "::mlir::StringAttr":$products,
    // Of a function whose values have their final types: the precision asked for. Of a cast between
    // them that the model does not have: that of its result. Of an Attention that got it there: its own.
    "::mlir::StringAttr":$precision,
    // Of a product that is not of the precision asked for: why.
    "::mlir::StringAttr":$kept_precision,
    // Of a function: recorded ranges of its values, and what else calibration has found.
    "::mlir::DictionaryAttr":$ranges,
    // Of a function: what the model's file calls values, by the names that they have here.
    "::mlir::DictionaryAttr":$tensors,
    // Of an operator, while --accuracy compares plans of layers: what makes it known again.
    "::mlir::StringAttr":$key
  );
  let extraClassDeclaration = [{
    /// The resources that makeConstant has made in this context and nobody has released.
    ConstantResources &constantResources() { return resources; }
    /// The files that #onnx.external attributes of this context refer to.
    WeightFiles &weightFiles() { return files; }

  private:
    ConstantResources resources;
    WeightFiles files;

  public:
  }];
  // The attribute dictionary holds the ONNX attributes: importer and exporter stay generic, and
  // two hundred property structs are not compiled.
  let usePropertiesForAttributes = 0;
}

//===----------------------------------------------------------------------===//
// Types: what builtin types lack
//===----------------------------------------------------------------------===//

class ONNX_Type<string cppName, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Onnx_Dialect, cppName, traits> {
  let mnemonic = typeMnemonic;
}

def ONNX_String : ONNX_Type<"String", "string"> { let summary = "element type: a string"; }
def ONNX_F4E2M1 : ONNX_Type<"F4E2M1", "f4E2M1"> { let summary = "element type: 4-bit float"; }
def ONNX_F8E8M0 : ONNX_Type<"F8E8M0", "f8E8M0"> {
  let summary = "element type: 8-bit power of two";
}
def ONNX_AnyType : ONNX_Type<"Any", "any"> {
  let summary = "what an operator of an unknown domain yields when the model does not say";
}

def ONNX_SeqType : ONNX_Type<"Seq", "seq"> {
  let summary = "a sequence";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}
def ONNX_OptType : ONNX_Type<"Opt", "opt"> {
  let summary = "an optional value";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}
def ONNX_MapType : ONNX_Type<"Map", "map"> {
  let summary = "a map";
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $keyType `,` $valueType `>`";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def ONNX_ExternalAttr : AttrDef<Onnx_Dialect, "External", [ElementsAttrInterface]> {
  let mnemonic = "external";
  let summary = "elements that lie in a file";
  let description = [{
    ```mlir
    #onnx.external<"conv1.weight" in "model.mlir.weights" at 4096 xxh3 "9ff0a3b1c2d3e4f5">
      : tensor<64x3x7x7xf32>
    ```
    What text has in place of large resources: the bytes at an offset, a multiple of 64, of a file
    beside the text, or beneath its folder, whose XXH3 must be the one given. They are mapped and
    checked when the attribute is parsed. In bytecode the attribute is the resource itself.
  }];
  let parameters = (ins AttributeSelfTypeParameter<"", "::mlir::RankedTensorType">:$type,
                        StringRefParameter<"what resources of these contents are called">:$name,
                        StringRefParameter<"the file, as seen from the text's folder">:$file,
                        "uint64_t":$offset, "uint64_t":$hash,
                        // Not printed. Owned by the dialect's weightFiles, or by who made the attribute.
                        "const char *":$data);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The elements in ConstantBytes' form.
    ::llvm::ArrayRef<char> bytes() const;
  }];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

class ONNX_BaseOp<string opMnemonic, list<Trait> traits, int regionNumber = 0>
    : Op<Onnx_Dialect, opMnemonic, traits> {
  // One general builder instead of seven particular ones.
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$operands,
                   CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attributes), [{
      $_state.addTypes(resultTypes);
      $_state.addOperands(operands);
      $_state.addAttributes(attributes);
      for (int64_t i = 0; i < regionCount(); ++i)
        $_state.addRegion();
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return ::cameo::onnx::detail::parseOp(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::cameo::onnx::detail::printOp(printer, getOperation());
    }
  }];
  code regionCount = "static constexpr int64_t regionCount() { return " # regionNumber # "; }\n";
  let extraClassDeclaration = regionCount;
}

// Types and arity as the operator's schema says.
def ONNX_SchemaVerified : NativeOpTrait<"SchemaVerified"> { let cppNamespace = "::cameo::onnx"; }

class ONNX_Op<string onnxOperator, int version, list<Trait> traits = [],
              int regionNumber = 0>
    : ONNX_BaseOp<onnxOperator, !listconcat(traits, [ONNX_SchemaVerified]), regionNumber> {
  string operator = onnxOperator;
  int sinceVersion = version;
  let summary = "ONNX " # onnxOperator # ", opset " # version;
  let extraClassDeclaration = regionCount # [{
    static constexpr ::llvm::StringLiteral onnxName() {
      return ::llvm::StringLiteral("}] # onnxOperator # [{");
    }
    static constexpr int64_t sinceVersion() { return }] # version # [{; }
  }];
}

def ONNX_NoneOp : ONNX_BaseOp<"None", [Pure, ConstantLike]> {
  let summary = "an absent optional input";
  let results = (outs NoneType:$none);
  let hasFolder = 1;
}

def ONNX_ConstantOp : ONNX_Op<"Constant", 25, [Pure, ConstantLike]> {
  let summary = "a constant: an initialiser or a Constant node of any kind";
  let description = [{
    Large values are resources. Elements of fewer than eight bits, except booleans in dense
    attributes, take a byte each; `constantBytes` reads either form.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$output);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def ONNX_CustomOp : ONNX_BaseOp<"Custom", [RecursiveMemoryEffects]> {
  let summary = "an operator of a domain or name that is not known";
  let description = [{
    Imported and exported as it is, and refused by name where it would have to be computed.
    Graph attributes are regions, named by `graphs`. An operator of an older opset that the
    dialect's opset cannot express says why in `unsupported`, and is not exported.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$domain, StrAttr:$op_type,
                       I64Attr:$version, DictionaryAttr:$onnx_attributes,
                       OptionalAttr<StrArrayAttr>:$graphs, OptionalAttr<StrAttr>:$unsupported);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasVerifier = 1;
}

def ONNX_YieldOp : ONNX_BaseOp<"Yield", [Pure, Terminator]> {
  let summary = "ends a graph attribute with the graph's outputs";
  let arguments = (ins Variadic<AnyType>:$outputs);
}

class ONNX_CallOp<string opMnemonic>
    : ONNX_BaseOp<opMnemonic, [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def ONNX_CallIfOp : ONNX_CallOp<"CallIf"> {
  let summary = "an If whose branches are functions";
  let description = [{
    Both functions take all captures; each gives the results. `sizes` has two numbers for each dimension of each
    result: a capture and its dimension that has this very size, or -1, -1 where only the branch that is taken tells
    a dynamic one. It is exported as If.
    ```mlir
    %0 = onnx.CallIf(%c, %x) {then_branch = @main.then, else_branch = @main.else, sizes = array<i64: 0, 0, -1, -1>}
      : (tensor<i1>, tensor<?x4xf32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins AnyType:$condition, Variadic<AnyType>:$captures,
                       FlatSymbolRefAttr:$then_branch, FlatSymbolRefAttr:$else_branch,
                       DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<AnyType>:$outputs);
}

def ONNX_CallLoopOp : ONNX_CallOp<"CallLoop"> {
  let summary = "a Loop whose body is a function";
  let description = [{
    The function takes the number of the trip, the values that trips hand on, of which there are `carried`, and all
    captures; it gives whether there is another trip, the values for it, and an entry of each result that is collected
    along a new first dimension. Values that are carried keep their shapes. `count` and `condition` may be absent;
    `unconditional`: each trip says that there is another one. `sizes` is as of CallIf, with numbers of carried values
    and captures together.
    ```mlir
    %0:2 = onnx.CallLoop(%n, %none, %x, %w) {body = @main.body, carried = 1 : i64, unconditional, ...}
      : (tensor<i64>, none, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
    ```
  }];
  let arguments = (ins AnyType:$count, AnyType:$condition, Variadic<AnyType>:$values,
                       FlatSymbolRefAttr:$body, I64Attr:$carried, DenseI64ArrayAttr:$sizes,
                       UnitAttr:$unconditional);
  let results = (outs Variadic<AnyType>:$outputs);
  let hasVerifier = 1;
}

//===-- Random numbers ----------------------------------------------------------------------===//
// They are functions of a state, so that passes may treat them as any other operator.

def ONNX_RandomStateOp : ONNX_BaseOp<"RandomState", [Pure]> {
  let summary = "what a run draws its random numbers by";
  let description = [{ Two blocks of four words: `runtime/core/random.h`. It is exported as zeros. }];
  let results = (outs AnyType:$state);
}

def ONNX_RandomTripOp : ONNX_BaseOp<"RandomTrip", [Pure]> {
  let summary = "what a trip of a loop draws its random numbers by";
  let description = [{ Of the state around the loop and the number of the trip. It is exported as the former. }];
  let arguments = (ins AnyType:$state, AnyType:$trip);
  let results = (outs AnyType:$trip_state);
}

def ONNX_DrawOp : ONNX_BaseOp<"Draw", [Pure]> {
  let summary = "random numbers";
  let description = [{
    Each element follows from the state, the number of the `stream`, the `seed` of the model's, if there is one, and its
    place in row-major order alone. `distribution` is "uniform", from `low` up to but without `high`; "normal", of
    `mean` and `scale`; or "below": booleans that are true with the probabilities in `below`, which has the
    shape of the result, or one number beside a `shape`. It is exported as RandomUniformLike, RandomNormalLike or
    Bernoulli.
    ```mlir
    %0 = onnx.Draw(%state, %shape, %none) {distribution = "normal", mean = 0.0 : f32, scale = 1.0 : f32, stream = 0 : i64}
      : (tensor<8xi32>, tensor<2xi64>, none) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyType:$state, AnyType:$shape, AnyType:$below, StrAttr:$distribution,
                       I64Attr:$stream, OptionalAttr<AnyAttr>:$seed, OptionalAttr<F32Attr>:$low,
                       OptionalAttr<F32Attr>:$high, OptionalAttr<F32Attr>:$mean,
                       OptionalAttr<F32Attr>:$scale);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}

include "ops/Controlflow.td"
include "ops/Generator.td"
include "ops/Image.td"
include "ops/Logical.td"
include "ops/Math.td"
include "ops/Nn.td"
include "ops/ObjectDetection.td"
include "ops/Optional.td"
include "ops/Quantization.td"
include "ops/Reduction.td"
include "ops/Rnn.td"
include "ops/Sequence.td"
include "ops/Tensor.td"
include "ops/Text.td"

#endif // CAMEO_ONNX_TD
