// The same kernels in MLIR's own spelling: what of `kernel.ptx` is an operation of the nvvm
// dialect.
//
//   %d:2 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x2.shared.b16"(%p) : (!llvm.ptr<3>) -> (i32, i32)
//
// becomes nvvm.ldmatrix of a struct, with %d#0 and %d#1 taken from it.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Case.h"

#include <cstdlib>
#include <regex>
#include <sstream>

namespace instructions {
namespace {

using Strings = std::vector<std::string>;

Strings split(const std::string &list) {
  Strings parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part.substr(part.find_first_not_of(' ')));
  return parts;
}

std::string join(const Strings &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// A line with an instruction, taken apart, and what it becomes.
class Line {
public:
  explicit Line(const std::smatch &match)
      : base_(match[1]), several_(match[2].length() != 0), name_(match[3]),
        operands_(split(match[4])), types_(split(match[5])) {
    std::string results = match[6];
    results_ = split(results.front() == '(' ? results.substr(1, results.size() - 2) : results);
  }

  /// The operations, or empty where there are none.
  std::string text(const std::string &kernel);

  /// Uses of results in the rest of the kernel.
  std::string renamed(std::string kernel) const {
    if (!several_)
      return kernel;
    std::string uses = base_ + "#";
    for (size_t at; (at = kernel.find(uses)) != std::string::npos;)
      kernel.replace(at, uses.size(), base_ + "_");
    return kernel;
  }

private:
  std::string result(size_t i) const { return several_ ? base_ + "_" + std::to_string(i) : base_; }
  bool starts(const char *text) const { return name_.compare(0, strlen(text), text) == 0; }
  bool has(const char *part) const { return name_.find(part) != std::string::npos; }
  unsigned number(const char *after) const {
    return unsigned(strtoul(name_.c_str() + name_.find(after) + strlen(after), nullptr, 10));
  }
  static std::string structOf(const Strings &types) {
    return "!llvm.struct<(" + join(types) + ")>";
  }
  /// A fresh value for the operation: unique, for results are, and so are addresses of lines.
  std::string fresh(const std::string &what) {
    return "%nvvm_" + what + std::to_string(count_++) +
           (base_.empty() ? "" : "_" + base_.substr(1));
  }
  std::string constant(const std::string &name, const std::string &type, int value) {
    return format("    %s = llvm.mlir.constant(%d : %s) : %s\n", name.c_str(), value, type.c_str(),
                  type.c_str());
  }
  /// Results of the struct `all`, one by one; as `types`, which are their bits.
  std::string takeApart(const std::string &all, const Strings &parts, const Strings &types) {
    std::string text;
    for (size_t i = 0; i < types.size(); ++i) {
      bool same = parts[i] == types[i];
      std::string part = same ? result(i) : fresh("part");
      text += "    " + part + " = llvm.extractvalue " + all + "[" + std::to_string(i) +
              "] : " + structOf(parts) + "\n";
      if (!same)
        text += "    " + result(i) + " = llvm.bitcast " + part + " : " + parts[i] + " to " +
                types[i] + "\n";
    }
    return text;
  }
  std::string shape() const {
    std::smatch parts;
    std::regex_search(name_, parts, std::regex("m(\\d+)n(\\d+)k(\\d+)"));
    return "#nvvm.shape<m = " + parts.str(1) + ", n = " + parts.str(2) + ", k = " + parts.str(3) +
           ">";
  }

  std::string ldmatrix();
  std::string stmatrix();
  std::string mma();
  std::string wgmma(const std::string &kernel);
  std::string mbarrier(const std::string &kernel);
  std::string copy();
  std::string warp();
  std::string plain();

  std::string base_;
  bool several_;
  std::string name_;
  Strings operands_, types_, results_;
  static unsigned count_;
};

unsigned Line::count_ = 0;

std::string Line::ldmatrix() {
  unsigned count = number(".x");
  std::string type = count == 1 ? "i32" : structOf(results_);
  std::string all = count == 1 ? result(0) : fresh("matrices");
  std::string text =
      format("    %s = nvvm.ldmatrix %s {num = %u : i32, layout = "
             "#nvvm.mma_layout<%s>} : (!llvm.ptr<3>) -> %s\n",
             all.c_str(), operands_[0].c_str(), count, has(".trans") ? "col" : "row", type.c_str());
  return count == 1 ? text : text + takeApart(all, results_, results_);
}

std::string Line::stmatrix() {
  return "    nvvm.stmatrix " + join(operands_) + " {layout = #nvvm.mma_layout<" +
         (has(".trans") ? "col" : "row") + ">} : " + join(types_) + "\n";
}

std::string Line::mma() {
  // ... .d.a.b.c
  Strings parts;
  std::istringstream stream(name_);
  for (std::string part; std::getline(stream, part, '.');)
    parts.push_back(part);
  std::string d = parts[parts.size() - 4], a = parts[parts.size() - 3], b = parts[parts.size() - 2];
  if (a == "bf16" || a[0] == 'e') // which MLIR 19 lacks
    return {};
  std::string text;
  auto registers = [&](const std::string &type) -> std::string {
    return type == "f16" ? "vector<2xf16>" : type == "f32" || type == "f64" ? type : "i32";
  };
  Strings lists[3], sums(results_.size(), registers(d));
  // The registers of C are as many as those of D; A has those that B lacks.
  size_t ofC = results_.size(), ofAB = operands_.size() - ofC;
  bool square = has("m8n8");
  size_t ofA = square ? ofAB / 2 : ofAB * 2 / 3;
  for (size_t i = 0; i < operands_.size(); ++i) {
    unsigned list = i < ofA ? 0 : i < ofAB ? 1 : 2;
    std::string type = registers(list == 2 ? d : list ? b : a), value = operands_[i];
    if (type != types_[i]) {
      value = fresh("operand");
      text += "    " + value + " = llvm.bitcast " + operands_[i] + " : " + types_[i] + " to " +
              type + "\n";
    }
    lists[list].push_back(value);
  }
  std::string attributes = "layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
                           "shape = " +
                           shape();
  if (d == "s32")
    attributes += std::string(", intOverflowBehavior = #nvvm.mma_int_overflow<") +
                  (has(".satfinite") ? "satfinite" : "wrapped") + ">";
  if (a != "f16" && a != "f64")
    attributes += ", multiplicandAPtxType = #nvvm.mma_type<" + a +
                  ">, multiplicandBPtxType = #nvvm.mma_type<" + b + ">";
  std::string all = fresh("sums");
  text += "    " + all + " = nvvm.mma.sync A[" + join(lists[0]) + "] B[" + join(lists[1]) + "] C[" +
          join(lists[2]) + "] {" + attributes + "} : (" + registers(a) + ", " + registers(b) +
          ", " + registers(d) + ") -> " + structOf(sums) + "\n";
  return text + takeApart(all, sums, results_);
}

std::string Line::wgmma(const std::string &kernel) {
  if (has("wgmma.fence"))
    return "    nvvm.wgmma.fence.aligned\n";
  if (has("wgmma.commit_group"))
    return "    nvvm.wgmma.commit.group.sync.aligned\n";
  if (has("wgmma.wait_group"))
    return format("    nvvm.wgmma.wait.group.sync.aligned %u\n", number("aligned "));
  if (types_[0] != "i64") // A in registers
    return {};
  std::smatch types;
  std::regex_search(name_, types, std::regex("k\\d+(\\.satfinite)?\\.(\\w+)\\.(\\w+)\\.(\\w+)"));
  std::string d = types[2], a = types[3], b = types[4];
  Strings numbers =
      name_.find(' ') == std::string::npos ? Strings() : split(name_.substr(name_.find(' ') + 1));
  auto sign = [&](size_t i) {
    return i < numbers.size() && numbers[i] == "-1" ? "<neg>" : "<one>";
  };
  bool transposedA = numbers.size() == 4 && numbers[2] == "1";
  bool transposedB = numbers.size() == 4 && numbers[3] == "1";
  std::string type = structOf(results_), sums = fresh("sums");
  std::string text = "    " + sums + " = llvm.mlir.undef : " + type + "\n";
  for (size_t i = 0; i < results_.size(); ++i) {
    std::string next = fresh("sums");
    text += "    " + next + " = llvm.insertvalue " + operands_[3 + i] + ", " + sums + "[" +
            std::to_string(i) + "] : " + type + "\n";
    sums = next;
  }
  bool accumulates = kernel.find(operands_[2] + " = llvm.mlir.constant(true)") != std::string::npos;
  std::string all = fresh("all");
  text += "    " + all + " = nvvm.wgmma.mma_async " + operands_[0] + ", " + operands_[1] + ", " +
          sums + ", " + shape() + ", D[<" + d + ">, " + (accumulates ? "<one>" : "<zero>") +
          (has(".satfinite") ? ", <satfinite>" : "") + "], A[<" + a + ">, " + sign(0) + ", " +
          (transposedA ? "<col>" : "<row>") + "], B[<" + b + ">, " + sign(1) + ", " +
          (transposedB ? "<row>" : "<col>") + "] : " + type + " -> " + type + "\n";
  return text + takeApart(all, results_, results_);
}

std::string Line::mbarrier(const std::string &kernel) {
  const std::string &place = operands_[0];
  std::string typed = " : " + join(types_) + "\n";
  // Orders and scopes, and other blocks' barriers, have no operation.
  if (has("relaxed") || has("cluster") || has("drop") || has(".release"))
    return {};
  if (has("mbarrier.init"))
    return "    nvvm.mbarrier.init.shared " + join(operands_) + typed;
  if (has("mbarrier.inval"))
    return "    nvvm.mbarrier.inval.shared " + place + typed;
  if (has("arrive.expect_tx")) {
    // The operation does not give the state.
    std::regex use(base_ + "\\b");
    auto first = std::sregex_iterator(kernel.begin(), kernel.end(), use);
    if (std::distance(first, std::sregex_iterator()) > 1)
      return {};
    return "    nvvm.mbarrier.arrive.expect_tx.shared " + join(operands_) + typed;
  }
  if (has("arrive.noComplete"))
    return "    " + result(0) + " = nvvm.mbarrier.arrive.nocomplete.shared " + join(operands_) +
           " : " + join(types_) + " -> i64\n";
  if (has("mbarrier.arrive") && operands_.size() == 1)
    return "    " + result(0) + " = nvvm.mbarrier.arrive.shared " + place +
           " : !llvm.ptr<3> -> i64\n";
  if (has("try_wait.parity")) {
    // The operation waits until it is so.
    std::string ticks = fresh("ticks");
    return constant(ticks, "i32", 1000000) + "    nvvm.mbarrier.try_wait.parity.shared " +
           join(operands_) + ", " + ticks + " : " + join(types_) + ", i32\n    " + result(0) +
           " = llvm.mlir.constant(true) : i1\n";
  }
  if (has("mbarrier.test_wait.shared"))
    return "    " + result(0) + " = nvvm.mbarrier.test.wait.shared " + join(operands_) + " : " +
           join(types_) + " -> i1\n";
  return {};
}

std::string Line::copy() {
  if (has("bulk.tensor")) {
    unsigned dimensions = number("tensor.");
    auto list = [&](size_t from, size_t count) {
      return join(Strings(operands_.begin() + long(from), operands_.begin() + long(from + count)));
    };
    if (starts("cp.reduce"))
      return {};
    if (has("global.shared::cta")) {
      // The source stands before the coordinates.
      return "    nvvm.cp.async.bulk.tensor.global.shared.cta " + operands_[0] + ", " +
             operands_.back() + ", box[" + list(1, dimensions) + "] : " + types_[0] +
             ", !llvm.ptr<3>" +
             [&] {
               std::string types;
               for (unsigned i = 0; i < dimensions; ++i)
                 types += ", i32";
               return types;
             }() +
             "\n";
    }
    size_t offsets = has(".im2col") ? dimensions - 2 : 0, barrier = 2 + dimensions;
    std::string text = "    nvvm.cp.async.bulk.tensor.shared.cluster.global " + operands_[0] +
                       ", " + operands_[1] + ", " + operands_[barrier] + ", box[" +
                       list(2, dimensions) + "]";
    if (offsets)
      text += " im2col[" + list(barrier + 1, offsets) + "]";
    if (has("multicast"))
      text += " multicast_mask = " + operands_.back();
    return text + " : " + types_[0] + ", " + types_[1] + "\n";
  }
  if (has("bulk.commit_group"))
    return "    nvvm.cp.async.bulk.commit.group\n";
  if (has("bulk.wait_group"))
    return format("    nvvm.cp.async.bulk.wait_group %u%s\n", number(" "),
                  has(".read") ? " {read}" : "");
  if (has("bulk") || has("wait_all"))
    return {};
  if (has("commit_group"))
    return "    nvvm.cp.async.commit.group\n";
  if (has("wait_group"))
    return format("    nvvm.cp.async.wait.group %u\n", number(" "));
  if (has("mbarrier"))
    return "    nvvm.cp.async.mbarrier.arrive.shared " + operands_[0] +
           (has("noinc") ? " {noinc = true}" : "") + " : !llvm.ptr<3>\n";
  if (has("L2::"))
    return {};
  std::string size = name_.substr(name_.find(' ') + 1);
  Strings operands{operands_[0], operands_[1], size, has(".cg.") ? "cache = cg" : "cache = ca"};
  operands.insert(operands.end(), operands_.begin() + 2, operands_.end());
  return "    nvvm.cp.async.shared.global " + join(operands) + " : " + join(types_) + "\n";
}

std::string Line::warp() {
  if (starts("vote.sync.ballot"))
    return "    " + result(0) + " = nvvm.vote.ballot.sync " + operands_[1] + ", " + operands_[0] +
           " : i32\n";
  if (starts("redux.sync")) {
    std::smatch parts;
    std::regex_match(name_, parts, std::regex("redux\\.sync\\.(\\w+)\\.(\\w+)"));
    std::string kind = parts[1];
    bool isUnsigned = parts[2] == "u32";
    if (kind == "add" && isUnsigned) // the operation adds signed numbers
      return {};
    return "    " + result(0) + " = nvvm.redux.sync " + (isUnsigned ? " u" : " ") + kind + " " +
           join(operands_) + " : i32 -> i32\n";
  }
  return {};
}

std::string Line::plain() {
  if (starts("setmaxnreg"))
    return format("    nvvm.setmaxregister %s %u\n", has(".inc.") ? "increase" : "decrease",
                  number("u32 "));
  const std::pair<const char *, const char *> rows[] = {
      {"barrier.cluster.arrive", "cluster.arrive"},
      {"barrier.cluster.arrive.aligned", "cluster.arrive {aligned}"},
      {"barrier.cluster.arrive.release.aligned", "cluster.arrive {aligned}"},
      {"barrier.cluster.arrive.relaxed", "cluster.arrive.relaxed"},
      {"barrier.cluster.arrive.relaxed.aligned", "cluster.arrive.relaxed {aligned}"},
      {"barrier.cluster.wait", "cluster.wait"},
      {"barrier.cluster.wait.aligned", "cluster.wait {aligned}"},
      {"barrier.cluster.wait.acquire.aligned", "cluster.wait {aligned}"},
      {"fence.sc.cluster", "fence.sc.cluster"},
      {"fence.mbarrier_init.release.cluster", "fence.mbarrier.init"},
      {"fence.proxy.alias", "fence.proxy {kind = #nvvm.proxy_kind<alias>}"},
      {"fence.proxy.async", "fence.proxy {kind = #nvvm.proxy_kind<async>}"},
      {"fence.proxy.async.global", "fence.proxy {kind = #nvvm.proxy_kind<async.global>}"},
      {"fence.proxy.async.shared::cta",
       "fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"},
      {"fence.proxy.async.shared::cluster",
       "fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cluster>}"},
  };
  for (const auto &[name, operation] : rows)
    if (name_ == name)
      return std::string("    nvvm.") + operation + "\n";
  return {};
}

std::string Line::text(const std::string &kernel) {
  if (starts("ldmatrix"))
    return ldmatrix();
  if (starts("stmatrix"))
    return stmatrix();
  if (starts("mma"))
    return mma();
  if (starts("wgmma"))
    return wgmma(kernel);
  if (starts("mbarrier"))
    return mbarrier(kernel);
  if (starts("cp."))
    return copy();
  if (starts("vote") || starts("redux"))
    return warp();
  if (name_ == "rcp.approx.ftz.f32")
    return "    " + result(0) + " = nvvm.rcp.approx.ftz.f " + operands_[0] + " : f32\n";
  if (name_ == "bar.arrive")
    return "    nvvm.barrier.arrive id = " + operands_[0] + " number_of_threads = " + operands_[1] +
           "\n";
  if (name_ == "prefetch.tensormap")
    return "    nvvm.prefetch.tensormap " + operands_[0] + " : " + types_[0] + "\n";
  return plain();
}

} // namespace

std::string nvvmSpelling(const std::string &kernel) {
  // Base, how many, instruction, operands, types, result types.
  static const std::regex pattern(
      "^ *(?:(%\\w+)(:\\d+)? = )?kernel\\.ptx \"([^\"]+)\"\\(([^)]*)\\) : "
      "\\(([^)]*)\\) -> (.+)$");
  std::string result, rest = kernel;
  bool changed = false;
  while (!rest.empty()) {
    std::string line = rest.substr(0, rest.find('\n'));
    rest.erase(0, std::min(rest.size(), line.size() + 1));
    std::smatch match;
    std::string text;
    if (std::regex_match(line, match, pattern)) {
      Line taken(match);
      text = taken.text(kernel);
      if (!text.empty()) {
        changed = true;
        rest = taken.renamed(rest);
      }
    }
    result += text.empty() ? line + "\n" : text;
  }
  return changed ? result : std::string();
}

} // namespace instructions
