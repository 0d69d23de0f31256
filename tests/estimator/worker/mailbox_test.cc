#include "worker/mailbox.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>

namespace weir {
namespace {

TEST(MailboxTest, GivesTheNewestValueOnce) {
  Mailbox<int> mailbox(0);
  EXPECT_EQ(mailbox.Receive(), nullptr);
  for (const int value : {1, 2, 3}) {
    mailbox.outgoing() = value;
    mailbox.Send();
  }
  const int* const received = mailbox.Receive();
  ASSERT_NE(received, nullptr);
  EXPECT_EQ(*received, 3);
  EXPECT_EQ(mailbox.Receive(), nullptr);
  // The reader's value stays while the writer goes on.
  for (const int value : {4, 5, 6}) {
    mailbox.outgoing() = value;
    mailbox.Send();
  }
  EXPECT_EQ(*received, 3);
  EXPECT_EQ(*mailbox.Receive(), 6);
}

TEST(MailboxTest, NoValueIsTornAndNoneIsOlderThanTheOneBefore) {
  constexpr uint64_t kValues = 200'000;
  Mailbox<std::array<uint64_t, 16>> mailbox({});
  std::thread writer([&] {
    for (uint64_t value = 1; value <= kValues; ++value) {
      mailbox.outgoing().fill(value);
      mailbox.Send();
    }
  });
  uint64_t newest = 0;
  while (newest < kValues) {
    const auto* const values = mailbox.Receive();
    if (values == nullptr) continue;
    EXPECT_GT(values->front(), newest);
    newest = values->front();
    for (const uint64_t value : *values) EXPECT_EQ(value, newest);
  }
  writer.join();
}

}  // namespace
}  // namespace weir
