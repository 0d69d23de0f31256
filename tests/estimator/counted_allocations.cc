#include "counted_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int64_t> allocations = 0;
std::atomic<int64_t> left = -1;

void* Allocate(std::size_t size) {
  ++allocations;
  if (left == 0) return nullptr;
  if (left > 0) --left;
  return std::malloc(size != 0 ? size : 1);
}
}  // namespace

// The whole test program allocates through these.
void* operator new(std::size_t size) {
  if (void* memory = Allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace weir {

int64_t CountedAllocations() { return allocations; }
void FailAllocationsAfter(int64_t count) { left = count; }

}  // namespace weir
