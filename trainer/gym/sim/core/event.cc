#include "core/event.h"

#include <ns3/object-factory.h>

namespace weir::sim {

void UseFastScheduler() {
  ns3::ObjectFactory factory;
  factory.SetTypeId("ns3::PriorityQueueScheduler");
  ns3::Simulator::SetScheduler(factory);
}

}  // namespace weir::sim
