/* A sender with the shipped model: the rate after 400 packets. */
#include <inttypes.h>
#include <stdio.h>
#include <weir.h>

int main(void) {
  weir_model* model = NULL;
  weir_controller* controller = NULL;
  weir_send_side* sender = NULL;
  if (weir_model_load_shipped(&model) < 0 || weir_controller_create_policy(model, 0, &controller) < 0 ||
      weir_send_side_create(controller, NULL, 0, &sender) < 0) {
    fprintf(stderr, "%s\n", weir_last_error());
    return 1;
  }
  weir_packet_feedback feedback[10];
  for (uint16_t i = 0; i < 400; ++i) {
    const int64_t now_us = 5000 * (int64_t)i;
    const weir_sent_packet packet = {.send_time_us = now_us, .size_bytes = 1200, .sequence_number = i};
    weir_send_side_on_sent_packet(sender, &packet);
    feedback[i % 10] = (weir_packet_feedback){.receive_time_us = now_us + 20000, .sequence_number = i};
    if (i % 10 == 9) weir_send_side_on_transport_feedback(sender, feedback, 10, now_us + 40000);
  }
  weir_send_side_rates rates;
  weir_send_side_get_rates(sender, &rates);
  printf("%" PRId64 " %s\n", rates.target_rate_bps, rates.reason);
  weir_send_side_destroy(sender);
  weir_controller_destroy(controller);
  weir_model_destroy(model);
  return 0;
}
