#include "core/event.h"

namespace weir::sim {

void UseEventEngine() {
  ns3::Simulator::Destroy();
  ns3::Simulator::SetImplementation(ns3::CreateObject<EventEngine>());
}

}  // namespace weir::sim
