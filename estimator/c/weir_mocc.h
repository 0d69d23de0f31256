/* MOCC's interface, for senders that have statistics instead of packets. Time, threads and errors are as in weir.h. */
#ifndef WEIR_C_WEIR_MOCC_H_
#define WEIR_C_WEIR_MOCC_H_

#include <stdint.h>

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_mocc weir_mocc;

/* Uses the rates, the objective and the guard of `config`; NULL selects the defaults. The caller frees *mocc with
 * weir_mocc_destroy(). WEIR_ERROR_INVALID_MODEL for a model with a feature that statuses do not give;
 * weir_last_error() names it. Statuses give all features but queueing_delay_p95_s, jitter_s and the shares of kinds of
 * packets. The shipped model needs none of these. */
WEIR_API int weir_mocc_create(const weir_model* model, const weir_estimator_config* config,
                              weir_mocc** mocc) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_mocc_destroy(weir_mocc* mocc) WEIR_NOEXCEPT;

/* Register(w): sets the objective from now on. */
WEIR_API int weir_mocc_register(weir_mocc* mocc, float throughput, float latency, float loss) WEIR_NOEXCEPT;

/* Observations of the sender during one interval. "Acknowledged" are packets whose arrival the sender learned during
 * the interval. Without any, the latencies are ignored and may be 0.
 *
 * Latencies are one way, from departure to arrival. A sender that measures round-trip times counts the queue as one on
 * the forward path: with the smallest round-trip time R so far, the latency of a round-trip time r is r - R / 2, and
 * the base latency R / 2. */
typedef struct weir_mocc_status {
  int64_t interval_us;          /* above 0, at most a minute */
  double sending_ratio;         /* packets sent over acknowledged, at least 0; 100 when none was acknowledged */
  double latency_ratio;         /* mean latency over the base latency, at least 1 */
  double latency_gradient;      /* change of latency over time, s/s */
  int64_t throughput_bps;       /* acknowledged bytes over the interval */
  int64_t packets_acknowledged; /* 0 exactly where throughput_bps is 0 */
  int64_t packets_lost;
  int64_t base_latency_us; /* the smallest mean latency of an interval so far, at most 30 s; 0: unknown, which is an
                              error once packets are acknowledged, unless the model needs only the ratio */
  int64_t min_latency_us;  /* the smallest latency of a packet; 0: unknown, the mean latency stands for it */
  int64_t max_latency_us;  /* the largest latency of a packet; 0: unknown, the mean latency stands for it */
} weir_mocc_status;

/* Returns the model's interval between two reports. */
WEIR_API int64_t weir_mocc_interval_us(const weir_mocc* mocc) WEIR_NOEXCEPT;
/* ReportStatus(s). On WEIR_ERROR_INVALID_ARGUMENT nothing changes; weir_last_error() names the field. On
 * WEIR_ERROR_POLICY_FAULT the rate falls to the acknowledged throughput, within the bounds, if that is below the rate
 * in force. Until packets are acknowledged, the start rate is in force, halved each second from the third on. */
WEIR_API int weir_mocc_report_status(weir_mocc* mocc, const weir_mocc_status* status) WEIR_NOEXCEPT;
/* GetSendingRate(). */
WEIR_API int64_t weir_mocc_get_sending_rate_bps(const weir_mocc* mocc) WEIR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_C_WEIR_MOCC_H_ */
