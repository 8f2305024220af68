// The engine's functions with their types as runtime/sim/abi.h declares them, so that calls of them
// cannot have others.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sim/abi.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <type_traits>

namespace cameo {

/// What the engine's functions take and give.
enum class EngineType : uint8_t { None, I32, I64, F32, F64, Pointer };

/// A function of the engine: a member of CameoSimApi.
struct EngineFunction {
  const char *name;
  size_t offset;                    // in CameoSimApi
  llvm::ArrayRef<EngineType> types; // the result's, then those of operands, the thread's first
};

template <typename T> constexpr EngineType engineTypeOf() {
  if constexpr (std::is_void_v<T>)
    return EngineType::None;
  else if constexpr (std::is_pointer_v<T>)
    return EngineType::Pointer;
  else if constexpr (std::is_same_v<T, float>)
    return EngineType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return EngineType::F64;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return EngineType::I64;
  else {
    static_assert(std::is_same_v<T, uint32_t>, "no type that kernels hand to the engine");
    return EngineType::I32;
  }
}

template <typename T> struct EngineSignature;
template <typename Result, typename... Operands> struct EngineSignature<Result (*)(Operands...)> {
  static constexpr EngineType types[] = {engineTypeOf<Result>(), engineTypeOf<Operands>()...};
};

/// CameoSimApi::NAME as an EngineFunction.
#define CAMEO_SIM_ENGINE(NAME)                                                                     \
  (::cameo::EngineFunction{#NAME, offsetof(CameoSimApi, NAME),                                     \
                           ::cameo::EngineSignature<decltype(CameoSimApi::NAME)>::types})

} // namespace cameo
