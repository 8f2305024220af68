// Statistics are found from the context, by an interface of the dialect that every context has.
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"

#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectInterface.h"

using namespace mlir;
using namespace cameo;

namespace cameo {

/// Leads from a context to where its passes count.
struct StatisticsInterface : DialectInterface::Base<StatisticsInterface> {
  StatisticsInterface(Dialect *dialect, PassStatistics &statistics)
      : Base(dialect), statistics(statistics) {}

  PassStatistics &statistics;
};

} // namespace cameo

void PassStatistics::attach(DialectRegistry &registry) {
  std::function<void(MLIRContext *, BuiltinDialect *)> extend = [this](MLIRContext *,
                                                                       BuiltinDialect *dialect) {
    dialect->addInterface(std::make_unique<StatisticsInterface>(dialect, *this));
  };
  registry.addExtension(extend);
}

uint64_t PassStatistics::get(StringRef pass, StringRef statistic) {
  std::lock_guard lock(mutex);
  auto found = passes.find(pass.str());
  if (found == passes.end())
    return 0;
  auto value = found->second.find(statistic.str());
  return value == found->second.end() ? 0 : value->second;
}

void PassStatistics::add(StringRef pass, StringRef statistic, uint64_t amount) {
  std::lock_guard lock(mutex);
  passes[pass.str()][statistic.str()] += amount;
}

void PassStatistics::print(llvm::raw_ostream &output) {
  std::lock_guard lock(mutex);
  for (const auto &[pass, statistics] : passes) {
    output << pass << "\n";
    for (const auto &[name, value] : statistics)
      output << "  (S) " << value << " " << name << "\n";
  }
}

void cameo::count(MLIRContext *context, StringRef pass, StringRef statistic, uint64_t amount) {
  auto *builtin = context->getLoadedDialect<BuiltinDialect>();
  if (auto *found = builtin->getRegisteredInterface<StatisticsInterface>())
    found->statistics.add(pass, statistic, amount);
}
