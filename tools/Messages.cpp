// Messages ==> lines of text or of JSON.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Messages.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"

using namespace cameo;
using llvm::StringRef;
namespace json = llvm::json;

// Progress is said again after this time.
constexpr std::chrono::milliseconds kBetweenProgress(200);

static json::Object toJson(const CompileMessage &message) {
  json::Array notes;
  for (const CompileMessage &note : message.notes)
    notes.push_back(toJson(note));
  return json::Object{{"kind", "diagnostic"},
                      {"severity", nameOf(message.severity)},
                      {"where", json::fixUTF8(message.where)},
                      {"text", json::fixUTF8(message.text)},
                      {"notes", std::move(notes)}};
}

static void writeLine(json::Object object) {
  llvm::errs() << json::Value(std::move(object)) << "\n";
}

Messages Messages::of(llvm::ArrayRef<const char *> arguments) {
  bool isJson = llvm::is_contained(arguments, StringRef("--message-format=json"));
  for (size_t i = 0; i + 1 < arguments.size(); ++i)
    isJson |=
        StringRef(arguments[i]) == "--message-format" && StringRef(arguments[i + 1]) == "json";
  return Messages(isJson ? Format::Json : Format::Text);
}

void Messages::operator()(const CompileMessage &message) const {
  if (format == Format::Json)
    writeLine(toJson(message));
  else
    llvm::errs() << message;
}

mlir::LogicalResult Messages::fail(llvm::Error error) const {
  (*this)({CompileMessage::Severity::Error, "", llvm::toString(std::move(error)), {}});
  return mlir::failure();
}

void Messages::note(const llvm::Twine &text) const {
  (*this)({CompileMessage::Severity::Note, "", text.str(), {}});
}

void Messages::summary(StringRef lines) const {
  if (format == Format::Text) {
    llvm::errs() << lines;
    return;
  }
  for (StringRef line : llvm::split(lines.rtrim('\n'), '\n'))
    writeLine(json::Object{{"kind", "summary"}, {"text", json::fixUTF8(line)}});
}

MessageProgress::MessageProgress(const Messages &messages)
    : format(messages.format), text(llvm::errs(), llvm::sys::Process::StandardErrIsDisplayed()) {}

void MessageProgress::update(StringRef what, uint64_t done, uint64_t all) {
  if (format == Messages::Format::Text)
    return text.update(what, done, all);
  Progress::Clock::time_point time = Progress::Clock::now();
  if (what == now && done != all && time - said < kBetweenProgress)
    return;
  now = what.str();
  said = time;
  writeLine(json::Object{{"kind", "progress"}, {"what", what}, {"done", done}, {"all", all}});
}
