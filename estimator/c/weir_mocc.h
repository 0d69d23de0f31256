/* MOCC's interface, for senders that have statistics instead of packets. Time, threads and errors are as in weir.h. */
#ifndef WEIR_C_WEIR_MOCC_H_
#define WEIR_C_WEIR_MOCC_H_

#include <stdint.h>

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_mocc weir_mocc;

/* Uses the rates and the objective of `config`; NULL selects the defaults. The caller frees *mocc with
 * weir_mocc_destroy(). */
WEIR_API int weir_mocc_create(const weir_model* model, const weir_estimator_config* config,
                              weir_mocc** mocc) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_mocc_destroy(weir_mocc* mocc) WEIR_NOEXCEPT;

/* Register(w): sets the objective from now on. */
WEIR_API int weir_mocc_register(weir_mocc* mocc, float throughput, float latency, float loss) WEIR_NOEXCEPT;

typedef struct weir_mocc_status {
  int64_t interval_us;     /* above 0, at most a minute */
  double sending_ratio;    /* packets sent over acknowledged; 100 when none was acknowledged */
  double latency_ratio;    /* mean latency over the smallest mean latency so far, at least 1 */
  double latency_gradient; /* change of latency over time, s/s */
  int64_t throughput_bps;  /* acknowledged */
  int64_t packets_acknowledged;
  int64_t packets_lost;
  int64_t base_latency_us; /* the smallest mean latency so far, one way; 0: unknown */
} weir_mocc_status;

/* Returns the model's interval between two reports. */
WEIR_API int64_t weir_mocc_interval_us(const weir_mocc* mocc) WEIR_NOEXCEPT;
/* ReportStatus(s). On WEIR_ERROR_POLICY_FAULT the rate falls to the acknowledged throughput, within the bounds, if that
 * is below the rate in force. */
WEIR_API int weir_mocc_report_status(weir_mocc* mocc, const weir_mocc_status* status) WEIR_NOEXCEPT;
/* GetSendingRate(). */
WEIR_API int64_t weir_mocc_get_sending_rate_bps(const weir_mocc* mocc) WEIR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_C_WEIR_MOCC_H_ */
