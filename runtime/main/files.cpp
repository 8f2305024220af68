// Whole files: read, and written so that nobody sees half of one, whatever ends the writing.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/tensor.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cameo::cli {
namespace {

// What is to go if a signal ends the program; empty: nothing.
char unfinished[PATH_MAX];

void removeUnfinished(int signal) {
  unlink(unfinished);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

// While it lives, signals that end the program remove the file first. A limit on the size of files
// (ulimit -f) is an error like any other then, not a signal.
class SignalGuard {
public:
  explicit SignalGuard(const std::string &path) {
    if (path.size() < sizeof unfinished)
      std::memcpy(unfinished, path.c_str(), path.size() + 1);
    struct sigaction action = {};
    action.sa_handler = removeUnfinished;
    for (int i = 0; i < kCount; ++i) {
      sigaction(kSignals[i], nullptr, &before[i]);
      // What the program's caller has it ignore stays ignored.
      if (before[i].sa_handler != SIG_IGN)
        sigaction(kSignals[i], &action, nullptr);
    }
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, &sizeBefore);
  }
  ~SignalGuard() {
    for (int i = 0; i < kCount; ++i)
      sigaction(kSignals[i], &before[i], nullptr);
    sigaction(SIGXFSZ, &sizeBefore, nullptr);
    unfinished[0] = 0;
  }

private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static constexpr int kCount = sizeof kSignals / sizeof *kSignals;
  struct sigaction before[kCount], sizeBefore;
};

// 0, or errno. Closes the file.
int writeAll(int file, const std::vector<uint8_t> &bytes) {
  int error = 0;
  for (size_t done = 0; done < bytes.size() && !error;) {
    ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written > 0)
      done += size_t(written);
    else if (written == 0 || errno != EINTR)
      error = written ? errno : EIO;
  }
  // Some file systems tell of a full disk only here.
  if (close(file) != 0 && !error)
    error = errno;
  return error;
}

// A new file beside `path`, with the name that it got.
int createBeside(const std::string &path, std::string &name) {
  for (int i = 0;; ++i) {
    name = path + "." + std::to_string(getpid()) + "." + std::to_string(i) + ".tmp";
    int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
}

// 0, or errno.
int writeInPlace(const std::string &path, const std::vector<uint8_t> &bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  return file < 0 ? errno : writeAll(file, bytes);
}

// 0, or errno. `old` is the regular file of that name that there is, or null.
int replaceFile(const std::string &path, const struct stat *old,
                const std::vector<uint8_t> &bytes) {
  std::string temporary;
  int file = createBeside(path, temporary);
  if (file < 0) // a folder that takes no new files
    return old && errno != ENOSPC ? writeInPlace(path, bytes) : errno;
  int error = 0;
  {
    SignalGuard guard(temporary);
    if (old)
      (void)fchmod(file, old->st_mode & 07777);
    error = writeAll(file, bytes);
    if (!error && rename(temporary.c_str(), path.c_str()) != 0)
      error = errno;
    if (error)
      unlink(temporary.c_str());
  }
  // A file that something is mounted on keeps its place.
  return error == EBUSY && old ? writeInPlace(path, bytes) : error;
}

} // namespace

Status checkHostBytes(uint64_t bytes) {
  uint64_t most = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (bytes <= most)
    return {};
  return failure(Code::InvalidArgument, "it takes %llu bytes; this machine has %llu",
                 (unsigned long long)bytes, (unsigned long long)most);
}

Status readFile(const std::string &path, std::vector<uint8_t> &bytes) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return failure(errno == ENOENT ? Code::NotFound : Code::Io, "cannot open '%s': %s",
                   path.c_str(), strerror(errno));
  struct stat info;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode)) {
    if (Status status = checkHostBytes(uint64_t(info.st_size)); !status.ok()) {
      close(file);
      return failure(status.code(), "cannot read '%s': %s", path.c_str(), status.message().c_str());
    }
    bytes.reserve(size_t(info.st_size));
  }
  for (;;) {
    size_t old = bytes.size();
    constexpr size_t slice = 1u << 24;
    size_t room = bytes.capacity() > old ? std::min(bytes.capacity() - old, slice) : 1u << 16;
    bytes.resize(old + room);
    ssize_t got = ::read(file, bytes.data() + old, room);
    int error = errno;
    bytes.resize(old + (got > 0 ? size_t(got) : 0));
    if (got == 0)
      break;
    if (got < 0 && error != EINTR) {
      close(file);
      return failure(Code::Io, "cannot read '%s': %s", path.c_str(), strerror(error));
    }
  }
  close(file);
  return {};
}

Status writeFile(const std::string &path, const std::vector<uint8_t> &bytes) {
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  int error = 0;
  // Devices and pipes stay what they are, and so does what names of the system stand for:
  // /dev/stdout may be a file.
  if (exists && (!S_ISREG(info.st_mode) || path.compare(0, 5, "/dev/") == 0 ||
                 path.compare(0, 6, "/proc/") == 0)) {
    error = writeInPlace(path, bytes);
  } else {
    // Links stay links.
    char *real = exists ? realpath(path.c_str(), nullptr) : nullptr;
    error = replaceFile(real ? real : path, exists ? &info : nullptr, bytes);
    free(real);
  }
  return error ? failure(Code::Io, "cannot write '%s': %s", path.c_str(), strerror(error))
               : Status();
}

} // namespace cameo::cli
