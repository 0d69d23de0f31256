/* Prints what the C interface answers to made-up calls: the receiver's targets, those of the sender, MOCC's rates and
 * layers. Programs that link the library in different forms must print the same.
 *
 *   amalgamation_consumer [MODEL.onnx]    without a file: the shipped model
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir.h>
#include <weir_mocc.h>

enum { kFeedbackPackets = 64 };

static uint64_t random_state = 1;
static uint32_t random_below(uint32_t bound) { /* a linear congruential generator, the same everywhere */
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % bound;
}

static void check(int code, const char* call) {
  if (code >= 0) return;
  fprintf(stderr, "%s: %d, %s\n", call, code, weir_last_error());
  exit(1);
}
#define CHECK(call) check((call), #call)

/* A path of 0.3 to 3 Mbps that changes every second, with jitter and 1 % of loss: arrival of a packet, or -1. */
static int64_t arrival_us(int64_t sent_us, uint32_t size_bytes) {
  static int64_t free_us = 0;
  const int64_t kbps = 300 + 900 * ((sent_us / 1000000) % 4);
  if (free_us < sent_us) free_us = sent_us;
  if (random_below(100) == 0 || free_us - sent_us > 400000) return -1;
  free_us += (int64_t)size_bytes * 8000 / kbps;
  return free_us + 20000 + random_below(3000);
}

static void receive(const weir_controller* controller, int64_t duration_us) {
  weir_estimator* estimator = NULL;
  weir_estimate estimate = {0};
  CHECK(weir_estimator_create(controller, NULL, &estimator));
  int64_t target_bps = 300000, now_us = 0;
  uint16_t number = 0;
  for (int64_t sent_us = 0; sent_us < duration_us; ++number) {
    const uint32_t size = 200 + random_below(1000);
    sent_us += (int64_t)size * 8000000 / target_bps;
    const int64_t arrived_us = arrival_us(sent_us, size);
    if (arrived_us < 0) continue;
    const weir_packet packet = {.arrival_time_us = arrived_us > now_us ? arrived_us : now_us,
                                .ssrc = 1 + number % 2,
                                .sequence_number = number / 2,
                                .has_abs_send_time = 1,
                                .abs_send_time = (uint32_t)(((uint64_t)sent_us << 18) / 1000000) & 0xffffff,
                                .header_bytes = 12,
                                .payload_bytes = size - 12};
    now_us = packet.arrival_time_us;
    CHECK(weir_estimator_on_packet(estimator, &packet));
    if (weir_estimator_next_timeout_us(estimator) > now_us) continue;
    const int result = weir_estimator_on_timeout(estimator, now_us, &estimate);
    check(result, "weir_estimator_on_timeout");
    if (result == 0) continue;
    target_bps = estimate.target_rate_bps;
    printf("receiver %" PRId64 " %" PRId64 " %s %d\n", estimate.at_time_us, target_bps, estimate.reason, result);
  }
  weir_estimator_destroy(estimator);
}

static void send(const weir_controller* controller, int64_t duration_us) {
  weir_send_side* sender = NULL;
  weir_send_side_rates rates = {.target_rate_bps = 300000};
  weir_packet_feedback feedback[kFeedbackPackets];
  size_t count = 0;
  CHECK(weir_send_side_create(controller, NULL, 0, &sender));
  int64_t sent_us = duration_us; /* the path's clock goes on from the receiver's */
  for (uint16_t number = 0; sent_us < 2 * duration_us; ++number) {
    const uint32_t size = 200 + random_below(1000);
    sent_us += (int64_t)size * 8000000 / rates.target_rate_bps;
    const weir_sent_packet packet = {.send_time_us = sent_us, .size_bytes = size, .sequence_number = number};
    CHECK(weir_send_side_on_sent_packet(sender, &packet));
    const int64_t arrived_us = arrival_us(sent_us, size);
    feedback[count++] = (weir_packet_feedback){
        .receive_time_us = arrived_us, .sequence_number = number, .fate = arrived_us < 0 ? WEIR_PACKET_LOST : 0};
    if (count == kFeedbackPackets || number % 10 == 9) {
      CHECK(weir_send_side_on_transport_feedback(sender, feedback, count, sent_us));
      count = 0;
    }
    if (weir_send_side_next_timeout_us(sender) <= sent_us) CHECK(weir_send_side_on_timeout(sender, sent_us));
    CHECK(weir_send_side_get_rates(sender, &rates));
    if (number % 50 == 0)
      printf("sender %" PRId64 " %" PRId64 " %" PRId64 " %s\n", sent_us, rates.target_rate_bps,
             rates.congestion_window_bytes, rates.reason);
  }
  weir_send_side_destroy(sender);
}

static void report_statistics(const weir_model* model) {
  weir_mocc* mocc = NULL;
  CHECK(weir_mocc_create(model, NULL, &mocc));
  for (int i = 0; i < 100; ++i) {
    const weir_mocc_status status = {.interval_us = weir_mocc_interval_us(mocc),
                                     .sending_ratio = 1 + random_below(100) / 400.0,
                                     .latency_ratio = 1 + random_below(100) / 100.0,
                                     .latency_gradient = random_below(100) / 1000.0,
                                     .throughput_bps = 500000 + random_below(500000),
                                     .packets_acknowledged = 50,
                                     .packets_lost = random_below(3),
                                     .base_latency_us = 25000};
    CHECK(weir_mocc_report_status(mocc, &status));
    printf("mocc %" PRId64 "\n", weir_mocc_get_sending_rate_bps(mocc));
  }
  weir_mocc_destroy(mocc);
}

static void allocate_layers(void) {
  weir_layer_allocator* allocator = NULL;
  const weir_media_stream stream = {
      .id = 1, .layer_count = 3, .layers = {{.rate_bps = 150000}, {.rate_bps = 500000}, {.rate_bps = 1500000}}};
  weir_layer_allocation allocation;
  CHECK(weir_layer_allocator_create(0, 0, &allocator));
  CHECK(weir_layer_allocator_set_streams(allocator, &stream, 1));
  for (int64_t now_us = 0; now_us < 20000000; now_us += 100000) {
    CHECK(weir_layer_allocator_allocate(allocator, 100000 + random_below(2000000), now_us, &allocation, 1));
    printf("layer %d %s\n", allocation.layer, allocation.reason);
  }
  weir_layer_allocator_destroy(allocator);
}

static weir_model* load(const char* path) {
  static unsigned char onnx[16 << 20]; /* a policy is never larger */
  weir_model* model = NULL;
  if (path == NULL) {
    CHECK(weir_model_load_shipped(&model));
    return model;
  }
  FILE* const file = fopen(path, "rb");
  if (file == NULL) exit(2);
  const size_t size = fread(onnx, 1, sizeof onnx, file);
  fclose(file);
  CHECK(weir_model_load(onnx, size, &model));
  return model;
}

int main(int argc, char** argv) {
  weir_model* const model = load(argc > 1 ? argv[1] : NULL);
  weir_controller *policy = NULL, *nada = NULL;
  CHECK(weir_controller_create_policy(model, 0, &policy));
  CHECK(weir_controller_create_built_in("nada", &nada));
  printf("weir %s\n", weir_version());
  receive(policy, 30000000);
  send(policy, 30000000);
  receive(nada, 30000000);
  report_statistics(model);
  allocate_layers();
  weir_controller_destroy(nada);
  weir_controller_destroy(policy);
  weir_model_destroy(model);
  return 0;
}
