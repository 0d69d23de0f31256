// Links Weir as a browser does (adapter/BUILD.gn), and runs what needs no call. Exit status: 0 done, 1 failed.
#include <cstdio>

#include "receive_side_switch.h"
#include "shipped_model.h"

int main() {
  const auto policy = weir::PolicyAlone(weir::ShippedModel());
  if (!policy) {
    std::fprintf(stderr, "receive_side_smoke_test: the shipped model: %s\n", policy.error().c_str());
    return 1;
  }
  const auto receive_side = weir::ReceiveSideSwitch::Create({.controller = policy.value()});
  if (!receive_side || policy.value()() == nullptr) return 1;
  receive_side.value()->Install();
  weir::ReceiveSideSwitch::Uninstall();
  return 0;
}
