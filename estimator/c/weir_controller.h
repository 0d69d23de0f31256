/* A custom rate controller, at the receiver: every `interval_us` it receives the RTP packets that have arrived and
 * returns the target rate for the sender's RTCP REMB. See docs/write_a_custom_controller.md and examples/controllers.
 *
 * The same functions serve a host, which passes them to weir_controller_create_custom() of weir.h, and `weir replay`
 * and `weir call`, which load a shared library that exports
 *
 *   const weir_controller_functions* weir_controller_entry(void);
 *
 * The structures of this file, weir_controller_functions and the others, are those of custom controllers alone; the
 * handle weir_controller of weir.h is any controller, a custom one too.
 *
 * All calls on one state come from one thread at a time, in the order of time. Several may exist at once (one for each
 * estimator or flow), and many one after the other. The functions must neither throw nor longjmp. Times are
 * microseconds of one monotonic clock whose origin does not matter.
 */
#ifndef WEIR_C_WEIR_CONTROLLER_H_
#define WEIR_C_WEIR_CONTROLLER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; a library with another one is refused. */
#define WEIR_CONTROLLER_VERSION 1

typedef enum weir_packet_kind {
  WEIR_PACKET_VIDEO = 0,
  WEIR_PACKET_AUDIO = 1,
  WEIR_PACKET_PROBE = 2, /* also padding alone */
  WEIR_PACKET_RETRANSMISSION = 3
} weir_packet_kind;

/* The application's objective: three weights above 0 with sum 1. */
typedef struct weir_controller_objective {
  double throughput;
  double latency;
  double loss;
} weir_controller_objective;

typedef struct weir_controller_start {
  uint64_t seed; /* of the run, for a randomized controller; 1 in a host */
  /* Targets are clamped to these bounds. Before the first answer the start rate is in force, or, in a call that has
   * already begun, the interval's target_bps. */
  int64_t min_bps;
  int64_t start_bps;
  int64_t max_bps;
  weir_controller_objective objective;
  void* argument; /* from weir_controller_create_custom(); NULL for a shared library */
} weir_controller_start;

/* One RTP packet that is not a duplicate. Sizes are those of the RTP packet; with transport-cc, `header_bytes` also
   includes UDP and IP, and in calls SRTP. */
typedef struct weir_controller_packet {
  int64_t arrival_time_us;
  int64_t queueing_delay_us; /* one-way delay above the base delay, which is that of the path itself; 0 or more */
  uint32_t ssrc;
  int32_t abs_send_time; /* 24 bits, 6.18 fixed-point seconds, wraps every 64 s; -1 if the packet has none */
  uint32_t header_bytes;
  uint32_t payload_bytes;
  uint32_t padding_bytes;
  /* n for a gap of n packets before this one, -1 for a late packet that was counted as lost, else 0. */
  int32_t lost_change;
  uint16_t sequence_number;
  uint8_t payload_type;
  uint8_t kind; /* weir_packet_kind */
} weir_controller_packet;

typedef struct weir_controller_interval {
  int64_t now_us;
  int64_t target_bps;         /* in force */
  int64_t round_trip_time_us; /* 0: not known yet */
  weir_controller_objective objective;
  /* Packets since the previous call, in the order of arrival; valid during the call. */
  const weir_controller_packet* packets;
  size_t packet_count; /* 0: nothing has arrived; at most 262,144 */
} weir_controller_interval;

typedef struct weir_controller_functions {
  uint32_t version;    /* WEIR_CONTROLLER_VERSION */
  int64_t interval_us; /* between two decisions, 5,000 to 10,000,000 */
  /* Returns the state of one flow's controller, which the other two receive; NULL on failure. */
  void* (*create)(const weir_controller_start* start);
  /* Returns the target rate of RTP packets in bit/s; the decision fails unless it is in 0 to 1e12. A failure ends a
   * replay's run; in a call the rule decides from then on, in a host until the controller works again. */
  double (*decide)(void* state, const weir_controller_interval* interval);
  void (*destroy)(void* state);
} weir_controller_functions;

typedef const weir_controller_functions* (*weir_controller_entry_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_C_WEIR_CONTROLLER_H_ */
