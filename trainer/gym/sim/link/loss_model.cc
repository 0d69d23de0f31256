#include "link/loss_model.h"

namespace weir::sim {

LossModel::LossModel(const LossSpec& spec, RandomStream random) : spec_(spec), random_(random) {}

bool LossModel::Loses(int64_t time_ns) {
  switch (spec_.kind) {
    case LossSpec::Kind::kNone:
    case LossSpec::Kind::kPolicer:
      return false;
    case LossSpec::Kind::kBernoulli:
      return random_.Bernoulli(spec_.ratio.At(time_ns));
    case LossSpec::Kind::kGilbertElliott: {
      const bool loses = random_.Bernoulli(bad_ ? spec_.loss_bad : spec_.loss_good);
      if (random_.Bernoulli(bad_ ? spec_.bad_to_good : spec_.good_to_bad)) bad_ = !bad_;
      return loses;
    }
  }
  return false;
}

}  // namespace weir::sim
