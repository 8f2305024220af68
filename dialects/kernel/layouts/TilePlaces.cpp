// Where the tiles of a kernel are in its shared memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/layouts/TilePlaces.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cameo::kernel;

static TileType typeOf(Value tile) { return cast<TileType>(tile.getType()); }

/// Places `op` over others, all of which have their places.
static LogicalResult placeOver(AllocTileOp op, TilePlaces &places) {
  TilePlaces::At first = places.tiles.lookup(op.getOver()[0]);
  int64_t end = first.offset;
  for (Value other : op.getOver()) {
    TilePlaces::At at = places.tiles.lookup(other);
    if (at.group != first.group ||
        at.offset != int64_t(llvm::alignTo(end, typeOf(other).getLayout().alignment())))
      return op.emitOpError("is over tiles that do not follow one another");
    end = at.offset + typeOf(other).getBytes();
  }
  if (first.offset % op.getType().getLayout().alignment() != 0)
    return op.emitOpError() << "is over a tile at " << first.offset
                            << " B, which its layout's alignment of "
                            << op.getType().getLayout().alignment() << " B does not divide";
  TilePlaces::Group &group = places.groups[first.group];
  group.alignment = std::max(group.alignment, op.getType().getLayout().alignment());
  ++group.tiles;
  places.tiles[op.getResult()] = first;
  return success();
}

FailureOr<TilePlaces> cameo::kernel::placeTiles(Operation *kernel) {
  SmallVector<AllocTileOp> allocations;
  llvm::EquivalenceClasses<void *> together;
  kernel->walk([&](AllocTileOp op) {
    allocations.push_back(op);
    for (Value other : op.getOver())
      together.unionSets(op.getOver()[0].getAsOpaquePointer(), other.getAsOpaquePointer());
  });
  TilePlaces places;
  llvm::DenseMap<void *, unsigned> groups;
  for (AllocTileOp op : allocations) {
    if (!op.getOver().empty())
      continue;
    void *leader = together.getOrInsertLeaderValue(op.getResult().getAsOpaquePointer());
    auto [known, isNew] = groups.try_emplace(leader, places.groups.size());
    if (isNew)
      places.groups.emplace_back();
    TilePlaces::Group &group = places.groups[known->second];
    int64_t alignment = op.getType().getLayout().alignment();
    int64_t offset = llvm::alignTo(group.bytes, alignment);
    group.bytes = offset + op.getType().getBytes();
    group.alignment = std::max(group.alignment, alignment);
    ++group.tiles;
    places.tiles[op.getResult()] = {known->second, offset};
  }
  for (AllocTileOp op : allocations)
    if (!op.getOver().empty() && failed(placeOver(op, places)))
      return failure();
  for (TilePlaces::Group &group : places.groups) {
    group.begin = llvm::alignTo(places.bytes, group.alignment);
    places.bytes = group.begin + group.bytes;
  }
  return places;
}
