// The folder of cubins.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/CodeCache.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <unistd.h>

using namespace cameo;

namespace {

class CodeCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cameo-cache-test", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  CodeCache open() { return llvm::cantFail(CodeCache::open((folder + "/a/b").str())); }
  std::string file(llvm::StringRef key) { return (folder + "/a/b/llvmcache-" + key).str(); }
  size_t files() {
    std::error_code error;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator it(folder + "/a/b", error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }

  llvm::SmallString<128> folder;
};

CachedCode cubin(const char *log, size_t bytes, char value) {
  return {std::vector<char>(bytes, value), log};
}

TEST_F(CodeCacheTest, FindsWhatWasStored) {
  std::string key = CodeCache::keyOf({"a", "b"});
  EXPECT_FALSE(llvm::cantFail(open().find(key)));
  llvm::cantFail(open().store(key, cubin("said", 1000, 'x')));
  std::optional<CachedCode> found = llvm::cantFail(open().find(key));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->log, "said");
  EXPECT_EQ(found->data, std::vector<char>(1000, 'x'));
  EXPECT_EQ(files(), 1u);
}

TEST_F(CodeCacheTest, KeysTellPartsApart) {
  std::string key = CodeCache::keyOf({"ab", "c"});
  EXPECT_EQ(key.size(), 64u);
  EXPECT_NE(key, CodeCache::keyOf({"a", "bc"}));
  EXPECT_NE(key, CodeCache::keyOf({"ab", "c", ""}));
  EXPECT_EQ(key, CodeCache::keyOf({"ab", "c"}));
}

TEST_F(CodeCacheTest, EveryDamagedByteIsNoticed) {
  std::string key = CodeCache::keyOf({"a"});
  llvm::cantFail(open().store(key, cubin("log", 5, 'x')));
  std::string whole = (*llvm::MemoryBuffer::getFile(file(key)))->getBuffer().str();
  auto write = [&](const std::string &content) {
    std::error_code error;
    llvm::raw_fd_ostream(file(key), error) << content;
    ASSERT_FALSE(error);
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] ^= 1;
    for (const std::string &content : {changed, whole.substr(0, at)}) {
      write(content);
      llvm::Expected<std::optional<CachedCode>> found = open().find(key);
      ASSERT_FALSE(found) << at;
      EXPECT_EQ(llvm::toString(found.takeError()), "'" + file(key) + "' is damaged");
    }
  }
  llvm::cantFail(open().store(key, cubin("log", 5, 'x')));
  EXPECT_TRUE(llvm::cantFail(open().find(key)));
}

TEST_F(CodeCacheTest, ManyMayStoreAtOnce) {
  std::string key = CodeCache::keyOf({"a"});
  CachedCode stored = cubin("log", 100000, 'x');
  CodeCache cache = open();
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        if (llvm::Error error = cache.store(key, stored)) {
          llvm::consumeError(std::move(error));
          ++wrong;
        }
        llvm::Expected<std::optional<CachedCode>> found = cache.find(key);
        if (!found)
          llvm::consumeError(found.takeError());
        wrong += !found || !*found || (*found)->data != stored.data;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(files(), 1u); // and nothing else
}

TEST_F(CodeCacheTest, AFileIsNoFolder) {
  llvm::cantFail(open().store("key", cubin("", 1, 'x')));
  llvm::Expected<CodeCache> cache = CodeCache::open(file("key"));
  ASSERT_FALSE(cache);
  EXPECT_EQ(llvm::toString(cache.takeError()), "'" + file("key") + "': Not a directory");
}

TEST_F(CodeCacheTest, PruningKeepsWhatIsNew) {
  llvm::cantFail(open().store("new", cubin("", 1, 'x')));
  llvm::cantFail(open().store("old", cubin("", 1, 'x')));
  int descriptor = -1;
  ASSERT_FALSE(
      llvm::sys::fs::openFileForWrite(file("old"), descriptor, llvm::sys::fs::CD_OpenExisting));
  auto old = std::chrono::system_clock::now() - std::chrono::hours(31 * 24);
  ASSERT_FALSE(llvm::sys::fs::setLastAccessAndModificationTime(descriptor, old));
  ::close(descriptor);
  open().prune();
  EXPECT_TRUE(llvm::sys::fs::exists(file("new")));
  EXPECT_FALSE(llvm::sys::fs::exists(file("old")));
}

} // namespace
