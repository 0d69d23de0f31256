// Whether a policer stands in the path, for the guard: loss begins at the same rate again and again, without delay.
#ifndef WEIR_GUARD_POLICER_RULE_H_
#define WEIR_GUARD_POLICER_RULE_H_

#include <cstddef>

#include "weir/guard/queue_watch.h"
#include "weir/units.h"

namespace weir {

// A policer passes R, drops what is sent beyond it, and delays nothing. A second may be a policer's when 5 % or more of
// it was lost, four packets or more, and nothing waited for 10 ms, and when of the last ten seconds together those in
// which more than 1.05 times its R was sent lost 5 % or more, and the others less than 3 %, of so many packets that the
// former's loss would have taken four: loss by chance comes in both, and few packets tell nothing.
// After three such seconds with the same R, within 10 % and a minute of each other, the rate is kept 5 % below it. For
// each second that is none that limit rises by 1 %, up to 1.3 R, where the suspicion ends; and it ends with a second in
// which more than 1.05 R arrived and less than 3 % was lost.
class PolicerRule {
 public:
  // To be called at each decision, with what `watch` knows then; PlusInfinity: none is suspected.
  DataRate Limit(const QueueWatch& watch);

 private:
  void OnSecond(const QueueWatch& watch);
  void OnPolicedSecond(DataRate passed);

  // Of the watch.
  size_t seconds_ = 0;
  // In the present one.
  bool waited_ = false;
  // Of the seconds that may be a policer's.
  DataRate passed_ = DataRate::Zero();
  int times_ = 0;
  size_t latest_ = 0;
  DataRate limit_ = DataRate::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_GUARD_POLICER_RULE_H_
