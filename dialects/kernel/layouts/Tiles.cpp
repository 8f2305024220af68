// Types of tiles and fragments, and the layouts of tiles: #kernel.strided, #kernel.swizzle and
// #kernel.staged.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/Kernel.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cameo::kernel;

/// What shared memory is aligned to in any case.
static constexpr int64_t kAlignment = 16;

/// Truth values take a byte.
static int64_t bytesOf(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

//===-- Strided -----------------------------------------------------------------------------===//

LogicalResult StridedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t row,
                                  int64_t col) {
  if (row <= 0 || col <= 0)
    return emitError() << "strides must be positive, are " << row << " and " << col;
  return success();
}

LogicalResult StridedAttr::verifyTile(int64_t rows, int64_t cols, Type,
                                      function_ref<InFlightDiagnostic()> emitError) const {
  bool rowsApart = getRow() > (cols - 1) * getCol();
  bool colsApart = getCol() > (rows - 1) * getRow();
  if (!rowsApart && !colsApart)
    return emitError() << "strides of " << getRow() << " and " << getCol()
                       << " let elements of a tile of " << rows << "x" << cols << " coincide";
  return success();
}

int64_t StridedAttr::elements(int64_t rows, int64_t cols) const {
  return (rows - 1) * getRow() + (cols - 1) * getCol() + 1;
}

int64_t StridedAttr::alignment() const { return kAlignment; }
bool StridedAttr::hasConsecutiveRows() const { return getCol() == 1; }

//===-- Swizzle -----------------------------------------------------------------------------===//

LogicalResult SwizzleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t span,
                                  Direction) {
  if (span != 16 && span != 32 && span != 64 && span != 128)
    return emitError() << "span is 16, 32, 64 or 128 B, not " << span;
  return success();
}

LogicalResult SwizzleAttr::verifyTile(int64_t rows, int64_t cols, Type element,
                                      function_ref<InFlightDiagnostic()> emitError) const {
  int64_t lines = hasConsecutiveRows() ? rows : cols, length = hasConsecutiveRows() ? cols : rows;
  int64_t bytes = length * bytesOf(element);
  if (lines % 8 != 0 || bytes % getSpan() != 0)
    return emitError() << "has " << lines << " lines of " << bytes
                       << " B; a swizzled tile has eights of lines of a multiple of " << getSpan()
                       << " B";
  return success();
}

int64_t SwizzleAttr::elements(int64_t rows, int64_t cols) const { return rows * cols; }
int64_t SwizzleAttr::alignment() const { return 8 * getSpan(); }
bool SwizzleAttr::hasConsecutiveRows() const { return getAlong() == Direction::Columns; }

//===-- Staged ------------------------------------------------------------------------------===//

LogicalResult StagedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                                 int64_t cols) {
  if (rows <= 0 || cols <= 0)
    return emitError() << "has rectangles of " << rows << "x" << cols;
  return success();
}

LogicalResult StagedAttr::verifyTile(int64_t rows, int64_t cols, Type element,
                                     function_ref<InFlightDiagnostic()> emitError) const {
  int64_t line = getCols() * bytesOf(element);
  if (rows % getRows() != 0 || cols % getCols() != 0)
    return emitError() << "a tile of " << rows << "x" << cols << " is not made of rectangles of "
                       << getRows() << "x" << getCols();
  if (line % 16 != 0 || getRows() * line % 128 != 0)
    return emitError() << "has rectangles of " << getRows() << " rows of " << line
                       << " B; rows are multiples of 16 B, rectangles of 128 B";
  return success();
}

int64_t StagedAttr::elements(int64_t rows, int64_t cols) const { return rows * cols; }
int64_t StagedAttr::alignment() const { return 128; }
bool StagedAttr::hasConsecutiveRows() const { return true; }

int64_t StagedAttr::getExchange(int64_t line) {
  // Pieces are in different banks if their numbers differ in bits 0 to 2 after this. Written are 32
  // bytes of each of four rows, 64 of two or 16 of eight, read pieces of which neighbours are 1, 2
  // or 4 apart. So of the numbers' bits there vary bit 0 and two in a row from 2 on, bits 0 and 1
  // and any other, or any three in a row. These are the only columns that, behind the unit matrix
  // of bits 0 to 2, make those of each such set independent.
  constexpr int64_t kColumns[] = {0b111, 0b101, 0b110, 0b100, 0b111, 0b101};
  int64_t exchange = 0;
  for (auto [bit, column] : llvm::enumerate(kColumns))
    if (line >> bit & 1)
      exchange ^= column;
  return exchange;
}

//===-- Types -------------------------------------------------------------------------------===//

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t cols, Type element, TileLayoutInterface layout,
                               int64_t stages) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != 1 && (bits < 8 || !llvm::isPowerOf2_32(bits)))
    return emitError() << "elements are truth values or have 8, 16, 32 or 64 bits, not " << element;
  if (rows <= 0 || cols <= 0 || stages <= 0)
    return emitError() << "has " << rows << " rows, " << cols << " columns and " << stages
                       << " stages";
  return layout.verifyTile(rows, cols, element, emitError);
}

int64_t TileType::getStageElements() const {
  // All begin in the first of the banks: a place is in the same one whatever the stage.
  constexpr int64_t kBanks = 128; // bytes
  int64_t bytes = bytesOf(getElementType());
  return llvm::alignTo(getLayout().elements(getRows(), getCols()) * bytes,
                       std::max(getLayout().alignment(), kBanks)) /
         bytes;
}

int64_t TileType::getBytes() const {
  return getStages() * getStageElements() * bytesOf(getElementType());
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  TileLayoutInterface layout;
  int64_t stages;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseComma() || parser.parseAttribute(layout) ||
      parser.parseComma() || parser.parseKeyword("stages") || parser.parseEqual() ||
      parser.parseInteger(stages) || parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc) << "a tile has rows and columns, not " << shape.size() << " dimensions";
    return {};
  }
  return parser.getChecked<TileType>(loc, parser.getContext(), shape[0], shape[1], element, layout,
                                     stages);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getCols() << "x" << getElementType() << ", "
          << Attribute(getLayout()) << ", stages = " << getStages() << ">";
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                                   int64_t cols, Type element, FragmentLayoutInterface layout) {
  if (!element.isIntOrFloat())
    return emitError() << "has floating-point or integer elements, not " << element;
  return success(succeeded(layout.spread(rows, cols, element, emitError)));
}

Spread FragmentType::getSpread() const {
  // Verified with the type.
  return *getLayout().spread(getRows(), getCols(), getElementType(),
                             [&] { return emitError(UnknownLoc::get(getContext())); });
}
