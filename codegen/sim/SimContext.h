// What the passes on simulated kernels share: how a kernel's body reads its thread's context
// (runtime/sim/abi.h), calls the engine and names the sites of its calls.
//
// Until `cameo-lower-engine-calls` a call of the engine is one of a declared function:
//
//   %site = llvm.mlir.constant(0 : i32) {sim.site = "barrier"} : i32
//   llvm.call @cameo.sim.barrier(%thread, %id, %count, %site) : (!llvm.ptr, i32, i32, i32) -> ()
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/sim/EngineFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace cameo {

/// On a kernel's function, and after cameo-split-sim-kernels on its entry: what the image's table
/// says of it (runtime/sim/image.def).
inline constexpr llvm::StringLiteral kSimBlockAttr = "sim.block";            // array<i32>
inline constexpr llvm::StringLiteral kSimClusterAttr = "sim.cluster";        // array<i32>
inline constexpr llvm::StringLiteral kSimReadOnlyAttr = "sim.read_only";     // i32
inline constexpr llvm::StringLiteral kSimAsyncProxyAttr = "sim.async_proxy"; // unit
inline constexpr llvm::StringLiteral kSimMapsAttr = "sim.maps";              // i32
inline constexpr llvm::StringLiteral kSimSharedAttr = "sim.shared";          // i32
inline constexpr llvm::StringLiteral kSimCountsAttr = "sim.counts";          // array of array<i32>
/// On a kernel's body: it has the thread as its first parameter.
inline constexpr llvm::StringLiteral kSimBodyAttr = "sim.body";
/// On an access of memory, its description: bytes, alignment, space, kind, what.
inline constexpr llvm::StringLiteral kSimAccessAttr = "sim.access";
/// On the constant that stands for a site: what the instruction is.
inline constexpr llvm::StringLiteral kSimSiteAttr = "sim.site";
/// On the module: its sites, [node, location, what] each.
inline constexpr llvm::StringLiteral kSimSitesAttr = "sim.sites";
/// On a declared function of the engine: its place in CameoSimApi.
inline constexpr llvm::StringLiteral kSimEngineAttr = "sim.engine";

/// The functions of `module` that are simulated, as they are before they are split.
llvm::SmallVector<mlir::LLVM::LLVMFuncOp> simKernels(mlir::Operation *module);
/// After that, what they have become: their bodies.
llvm::SmallVector<mlir::LLVM::LLVMFuncOp> simBodies(mlir::Operation *module);
/// A body's entry.
mlir::LLVM::LLVMFuncOp entryOf(mlir::LLVM::LLVMFuncOp body);

/// The symbol table that a kernel stands in.
mlir::Operation *moduleOf(mlir::LLVM::LLVMFuncOp function);

/// Builds what a body needs of its thread and of the engine.
class SimContext {
public:
  explicit SimContext(mlir::LLVM::LLVMFuncOp body);

  mlir::Value constant(mlir::Location loc, mlir::Type type, int64_t value);
  /// `base` + `offset` bytes.
  mlir::Value at(mlir::Location loc, mlir::Value base, uint64_t offset);
  /// A member of CameoSimThread, loaded once, at the body's beginning.
  mlir::Value member(mlir::Type type, size_t offset);
  /// Loads what never changes.
  mlir::Value loadInvariant(mlir::Type type, mlir::Value pointer);
  /// A new row of the table of sites, of an instruction at `loc`.
  mlir::Value site(mlir::Location loc, const llvm::Twine &what);
  /// Calls a function of the engine with the thread and `operands`.
  mlir::LLVM::CallOp call(mlir::Location loc, const EngineFunction &engine,
                          llvm::ArrayRef<mlir::Value> operands);
  void replace(mlir::Operation *op, mlir::ValueRange values);

  mlir::LLVM::LLVMFuncOp body;
  mlir::OpBuilder builder;
  mlir::Value thread;
  mlir::LLVM::LLVMPointerType ptr;
  mlir::Type i32, i64;

private:
  mlir::Type typeOf(EngineType type);
  mlir::LLVM::LLVMFuncOp declare(const EngineFunction &engine);

  std::map<std::pair<const void *, size_t>, mlir::Value> members;
};

} // namespace cameo
