/* The C header must be C: compiled as C99 with pedantic warnings, and used by c_api_test.cc. */
#include "weir.h"
#include "weir_mocc.h"

int64_t WeirTestRunFromC(void);

/* Runs the rule for ten seconds on an even 1 Mbps stream; returns the last target in bps, or a negative error. */
int64_t WeirTestRunFromC(void) {
  weir_controller* controller = NULL;
  weir_estimator* estimator = NULL;
  weir_estimate estimate = {0, 0, NULL};
  int64_t now_us;
  int error = weir_controller_create_built_in("rule", &controller);
  if (error != WEIR_OK) return error;
  error = weir_estimator_create(controller, NULL, &estimator);
  weir_controller_destroy(controller);
  if (error != WEIR_OK) return error;
  for (now_us = 0; now_us < 10000000; now_us += 10000) {
    weir_packet packet = {now_us, 1, (uint16_t)(now_us / 10000), 96, WEIR_PACKET_VIDEO, 1, 0, 0, 0, 12, 1238, 0, 0};
    packet.abs_send_time = (uint32_t)(now_us * 262144 / 1000000) & 0xffffff;
    error = weir_estimator_on_packet(estimator, &packet);
    while (error >= 0 && weir_estimator_next_timeout_us(estimator) <= now_us) {
      error = weir_estimator_on_timeout(estimator, now_us, &estimate);
    }
    if (error < 0) break;
  }
  weir_estimator_destroy(estimator);
  return error < 0 ? error : estimate.target_rate_bps;
}
