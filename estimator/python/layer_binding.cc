// weir._core.LayerAllocator
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conversions.h"
#include "weir/layer_allocator.h"

namespace weir::python {
namespace {

using namespace py::literals;  // NOLINT: literals have no other import

// Rate in bit/s, width and height.
using Layer = std::tuple<int64_t, int, int>;

// A MediaStream that owns its layers.
struct OwnedStream {
  MediaStream stream;
  std::vector<MediaLayer> layers;
};

OwnedStream MakeStream(int64_t id, const std::vector<Layer>& layers, const std::string& kind, int priority,
                       bool may_pause) {
  OwnedStream made{{.id = Narrow<uint32_t>("id", id),
                    .kind = ToPacketKind(kind),
                    .priority = priority,
                    .may_pause = may_pause,
                    .layers = {}},
                   {}};
  for (const auto& [rate_bps, width, height] : layers) {
    made.layers.push_back({DataRate::BitsPerSecond(rate_bps), width, height});
  }
  return made;
}

std::unique_ptr<LayerAllocator> Make(double margin, int64_t wait_us) {
  return std::make_unique<LayerAllocator>(
      ValueOf(LayerAllocator::Create({.margin = margin, .wait = TimeDelta::Micros(wait_us)})));
}

void SetStreams(LayerAllocator& allocator, const std::vector<OwnedStream>& streams) {
  std::vector<MediaStream> given;
  given.reserve(streams.size());
  for (const OwnedStream& owned : streams) {
    given.push_back(owned.stream);
    given.back().layers = owned.layers;
  }
  if (const auto error = allocator.SetStreams(given)) throw py::value_error(error->message);
}

std::vector<LayerAllocation> Allocate(LayerAllocator& allocator, int64_t target_rate_bps, int64_t now_us) {
  const auto allocations = allocator.Allocate(DataRate::BitsPerSecond(target_rate_bps), ToTimestamp("now_us", now_us));
  return {allocations.begin(), allocations.end()};
}

}  // namespace

void BindLayers(py::module_& module) {
  py::class_<OwnedStream>(module, "MediaStream")
      .def(py::init(&MakeStream), "id"_a, "layers"_a, py::kw_only(), "kind"_a = "video", "priority"_a = 0,
           "may_pause"_a = true);
  py::class_<LayerAllocation>(module, "LayerAllocation")
      .def_readonly("id", &LayerAllocation::id)
      .def_readonly("layer", &LayerAllocation::layer)
      .def_property_readonly("rate_bps", [](const LayerAllocation& a) { return a.forwarded.rate.bps(); })
      .def_property_readonly("width", [](const LayerAllocation& a) { return a.forwarded.width; })
      .def_property_readonly("height", [](const LayerAllocation& a) { return a.forwarded.height; })
      .def_property_readonly("reason", [](const LayerAllocation& a) { return std::string(ToString(a.reason)); })
      .def_property_readonly("at_time_us", [](const LayerAllocation& a) { return a.at_time.us(); });
  const LayerAllocatorConfig defaults;
  py::class_<LayerAllocator>(module, "LayerAllocator")
      .def(py::init(&Make), py::kw_only(), "margin"_a = defaults.margin, "wait_us"_a = defaults.wait.us())
      .def("set_streams", &SetStreams, "streams"_a)
      .def("allocate", &Allocate, "target_rate_bps"_a, "now_us"_a)
      .def_property_readonly("allocated_rate_bps", [](const LayerAllocator& a) { return a.allocated_rate().bps(); })
      .def_property_readonly("desired_rate_bps", [](const LayerAllocator& a) { return a.desired_rate().bps(); })
      .def_property_readonly("next_rate_bps", [](const LayerAllocator& a) { return a.next_rate().bps(); });
}

}  // namespace weir::python
