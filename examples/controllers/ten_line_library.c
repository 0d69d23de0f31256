/* The ten-line rule as a shared library (INCLUDE: the folder of weir_controller.h, here estimator/c):
 *   cc -O2 -shared -fPIC -I INCLUDE ten_line_library.c -o ten_line_library.so
 *   weir replay catalogue --controller ./ten_line_library.so
 */
#include <math.h>
#include <stdlib.h>
#include <weir_controller.h>

typedef struct rule {
  double min_bps, max_bps, target_bps, received_bps[3];
  int intervals, heard;
} rule;

static void* create(const weir_controller_start* start) {
  rule* self = calloc(1, sizeof *self);
  self->min_bps = start->min_bps, self->target_bps = start->start_bps, self->max_bps = start->max_bps;
  return self;
}

static double decide(void* state, const weir_controller_interval* interval) {
  rule* self = state;
  double received_bps = 0, queue_us = INFINITY;
  double* slot = &self->received_bps[self->intervals++ % 3];
  *slot = 0;
  for (const weir_controller_packet* p = interval->packets; p < interval->packets + interval->packet_count; ++p) {
    *slot += 80.0 * (p->header_bytes + p->payload_bytes + p->padding_bytes);
    queue_us = fmin(queue_us, p->queueing_delay_us);
  }
  for (int i = 0; i < 3; ++i) received_bps += self->received_bps[i] / fmin(self->intervals, 3);
  if (interval->packet_count == 0)
    self->target_bps *= self->heard ? 0.6 : 1;
  else if (queue_us < 15000)
    self->target_bps = fmin(1.1 * self->target_bps, 2 * received_bps + 50000);
  else
    self->target_bps = received_bps * fmax(0.3, 1 - (queue_us - 7500) / 300000);
  self->heard |= interval->packet_count > 0;
  return self->target_bps = fmin(fmax(self->target_bps, self->min_bps), self->max_bps);
}

static const weir_controller_functions functions = {WEIR_CONTROLLER_VERSION, 100000, create, decide, free};

const weir_controller_functions* weir_controller_entry(void) { return &functions; }
