/* Weir in a custom receiver: feeds the shipped model the packets of four seconds, prints the rates of the REMBs.
 *
 *   cc examples/c/example.c -o example $(pkg-config --cflags --libs weir) \
 *     -Wl,-rpath,$(pkg-config --variable=libdir weir)
 *   ./example
 */
#include <inttypes.h>
#include <stdio.h>
#include <weir.h>

/* Stands for a socket: 1,200 bytes every 4 ms, 25 ms after they were sent. */
static weir_packet received_packet(uint32_t number) {
  const uint64_t sent_us = UINT64_C(4000) * number;
  weir_packet packet = {.arrival_time_us = (int64_t)sent_us + 25000,
                        .ssrc = 1,
                        .sequence_number = (uint16_t)number,
                        .has_abs_send_time = 1,
                        .abs_send_time = (uint32_t)((sent_us << 18) / 1000000) & 0xffffff,
                        .header_bytes = 12,
                        .payload_bytes = 1188};
  return packet;
}

static void send_rtcp(const weir_estimate* estimate, const uint8_t* remb, int size) {
  (void)remb, (void)size;
  printf("%" PRId64 " us: %" PRId64 " bit/s, %s\n", estimate->at_time_us, estimate->target_rate_bps, estimate->reason);
}

int main(void) {
  /* README */
  weir_model* model = NULL;
  weir_controller* controller = NULL;
  weir_estimator* estimator = NULL;
  if (weir_model_load_shipped(&model) < 0 || weir_controller_create_policy(model, 0, &controller) < 0 ||
      weir_estimator_create(controller, NULL, &estimator) < 0) {
    fprintf(stderr, "no estimator: %s\n", weir_last_error());
    return 1;
  }
  weir_estimator_set_objective(estimator, 0.1f, 0.8f, 0.1f); /* at any time in the call */
  for (uint32_t i = 0; i < 1000; ++i) {
    const weir_packet packet = received_packet(i);
    weir_estimator_on_packet(estimator, &packet);
    if (weir_estimator_next_timeout_us(estimator) > packet.arrival_time_us) continue; /* in a call a timer calls */
    weir_estimate estimate;
    const int result = weir_estimator_on_timeout(estimator, packet.arrival_time_us, &estimate);
    if (result < 0 || !(result & WEIR_REMB_DUE)) continue;
    uint8_t remb[1040];
    const int size = weir_estimator_write_remb(estimator, 2, remb, sizeof remb);
    if (size > 0) send_rtcp(&estimate, remb, size);
  }
  weir_estimator_destroy(estimator);
  weir_controller_destroy(controller);
  weir_model_destroy(model);
  /* README */
  return 0;
}
