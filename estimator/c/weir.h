/* The C interface of Weir: a bandwidth estimator for RTP, at the receiver or, from transport-wide feedback, at the
 * sender; and an allocator of layers for an SFU.
 *
 * At the receiver:
 *   1. weir_model_load_shipped(), weir_controller_create_policy(), weir_estimator_create(). Then model and controller
 *      may be destroyed.
 *   2. weir_estimator_on_packet() for each RTP packet, in the order of arrival.
 *   3. weir_estimator_on_timeout() from a timer when weir_estimator_next_timeout_us() has come, also without packets;
 *      read the next time again after each call. If the result has WEIR_REMB_DUE, send what
 *      weir_estimator_write_remb() writes.
 *   4. weir_estimator_destroy().
 * The sender's calls are those of weir_send_side_..., an SFU's those of weir_layer_allocator_...; weir_repair_... is
 * for both ends.
 * examples/c/example.c is a whole program. weir_controller.h has the kinds of packets.
 *
 * Time is always an argument: microseconds of one monotonic clock, within 2^61 of 0. The library opens no file and
 * prints nothing. It reads a clock only to time a model that it loads, and starts a thread only for `worker`. Names
 * end in units: _us, _bps, _bytes.
 *
 * Threads: calls on one handle must not overlap; different handles are independent. As exceptions, any number of
 * threads may use one weir_model or weir_controller at once, until one of them destroys it. Callbacks run on the
 * calling thread, before the call returns; they must neither call back into the same handle, nor throw, nor longjmp.
 *
 * Errors: functions that return int return a negative weir_error on failure, and weir_last_error() has a sentence for
 * the user. On failure a function that creates a handle sets it to NULL.
 *
 * Structs: within one SONAME, fields may be appended to the configuration, counters and statistics. Their functions
 * take a size, so that a program compiled with fewer or more fields keeps working. All other structs are fixed.
 *
 * Trust: pass only packets that SRTP has authenticated. Their contents are untrusted.
 */
#ifndef WEIR_C_WEIR_H_
#define WEIR_C_WEIR_H_

#include <stddef.h>
#include <stdint.h>

#include "weir_controller.h"

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#else
#define WEIR_API
#endif

#ifdef __cplusplus
#define WEIR_NOEXCEPT noexcept
extern "C" {
#else
#define WEIR_NOEXCEPT
#endif

typedef enum weir_error {
  WEIR_OK = 0,
  WEIR_ERROR_INVALID_ARGUMENT = -1, /* a null pointer, or a value out of range */
  WEIR_ERROR_INVALID_MODEL = -2,    /* see weir_last_error() */
  WEIR_ERROR_UNKNOWN_CONTROLLER = -3,
  WEIR_ERROR_BUFFER_TOO_SMALL = -4,
  WEIR_ERROR_POLICY_FAULT = -5, /* the model failed; a safe rate is in force */
  WEIR_ERROR_OUT_OF_MEMORY = -6,
  WEIR_ERROR_INTERNAL = -7 /* a defect of the library: please report it */
} weir_error;

/* Such as "0.1.0". */
WEIR_API const char* weir_version(void) WEIR_NOEXCEPT;
/* The message of the last failed call on this thread, valid until the next failed call; "" before the first. */
WEIR_API const char* weir_last_error(void) WEIR_NOEXCEPT;

typedef enum weir_log_severity { WEIR_LOG_INFO = 0, WEIR_LOG_WARNING = 1 } weir_log_severity;
/* `message` is one line without a line break, valid during the call. */
typedef void (*weir_log_callback)(void* argument, weir_log_severity severity, const char* message);

/* ---- Model ---- */

/* A checked ONNX policy for any number of controllers and senders. */
typedef struct weir_model weir_model;

/* Loads a model. `onnx` is not used after the call. The caller frees *model with weir_model_destroy(). Takes
 * milliseconds; creating an estimator with the model takes microseconds. */
WEIR_API int weir_model_load(const void* onnx, size_t size_bytes, weir_model** model) WEIR_NOEXCEPT;
/* Loads the shipped model, which is part of the library. */
WEIR_API int weir_model_load_shipped(weir_model** model) WEIR_NOEXCEPT;
/* NULL is allowed. Objects created with the model remain valid. */
WEIR_API void weir_model_destroy(weir_model* model) WEIR_NOEXCEPT;

/* ---- Controller ---- */

/* The choice of a decision algorithm. Each estimator or sender that is created with it has its own state. */
typedef struct weir_controller weir_controller;

/* NULL is allowed. Objects created with the controller remain valid. */
WEIR_API void weir_controller_destroy(weir_controller* controller) WEIR_NOEXCEPT;
/* Creates a policy. `worker` not 0: one thread for the whole process computes models, and no call waits for it. Until
 * the answer arrives, the rate in force stays, and next_timeout_us makes the host poll every 10 ms. An answer after
 * more than the model's interval is a fault. */
WEIR_API int weir_controller_create_policy(const weir_model* model, int worker,
                                           weir_controller** controller) WEIR_NOEXCEPT;
/* Creates "rule", "nada" or "fixed", which keeps the start rate, or the rate in force when it is set in a call. */
WEIR_API int weir_controller_create_built_in(const char* name, weir_controller** controller) WEIR_NOEXCEPT;
/* A custom controller, see weir_controller.h. `functions` are copied; `argument` reaches each create(). Its failures
 * are faults: the rate in force is held, then the rule decides until the controller works again. */
WEIR_API int weir_controller_create_custom(const weir_controller_functions* functions, void* argument,
                                           weir_controller** controller) WEIR_NOEXCEPT;

/* A custom fusion of the pilot's and the copilots' rates. Called during weir_estimator_on_timeout() and the calls
 * weir_send_side_on_...(). A rate outside the range of the given ones is counted, and the pilot's is used. */
typedef int64_t (*weir_fusion_callback)(void* argument, int64_t pilot_bps, const int64_t* copilots_bps,
                                        size_t copilot_count);
/* A member of a pool, by its name in the specification. */
typedef struct weir_named_controller {
  const char* name;
  const weir_controller* controller; /* not a pool */
} weir_named_controller;
/* Combines several controllers by a specification such as "pilot=weir copilots=nada,rule fusion=min policy=by_trust"
 * (docs/pools.md). `members` has those that are not built in; it is not used after the call. `fusion`, for
 * "fusion=user", may be NULL. */
WEIR_API int weir_controller_create_pool(const char* specification, const weir_named_controller* members,
                                         size_t member_count, weir_fusion_callback fusion, void* fusion_argument,
                                         weir_controller** controller) WEIR_NOEXCEPT;

/* ---- Estimator ---- */

typedef struct weir_estimator weir_estimator;

/* Returns microseconds of a monotonic clock. Called during weir_estimator_on_timeout() and the calls
 * weir_send_side_on_...(). */
typedef int64_t (*weir_clock_callback)(void* argument);

/* Bounds of every target: 0 < min_rate_bps <= max_rate_bps. The start rate is clamped to them. */
typedef struct weir_target_rate_constraints {
  int64_t min_rate_bps;
  int64_t start_rate_bps;
  int64_t max_rate_bps;
  /* Maximum rate of the media; 0: unknown. The target exceeds it only under loss, for retransmissions and FEC, and
   * while frames are few, for a pacer; it is at most twice that rate. */
  int64_t max_media_rate_bps;
} weir_target_rate_constraints;

typedef struct weir_estimator_config {
  size_t size_bytes; /* as the program was compiled; weir_estimator_config_init() sets it */
  weir_target_rate_constraints constraints;
  /* Weights, each above 0; divided by their sum. */
  float objective_throughput;
  float objective_latency;
  float objective_loss;
  /* 0: only finiteness and bounds are enforced; for experiments. */
  int32_t guard;
  /* Bit i turns off the guard's rule weir_guard_rule_name(i). It is an error for a rule that is always on. */
  uint64_t guard_off;

  /* NULL, or a clock: a decision that takes longer than decision_limit_us (0: 50 ms) on it is dropped and counts as
   * late and as a fault. */
  weir_clock_callback clock;
  void* clock_argument;
  int64_t decision_limit_us;

  /* May be NULL. Reports when the controller is suspended and when it no longer is. */
  weir_log_callback log;
  void* log_argument;
} weir_estimator_config;

/* Sets the defaults: 30 kbps, 300 kbps, 50 Mbps, media unknown, the balanced objective <0.5,0.4,0.1>, guard on. */
WEIR_API void weir_estimator_config_init(weir_estimator_config* config, size_t size_bytes) WEIR_NOEXCEPT;
static inline weir_estimator_config weir_estimator_default_config(void) WEIR_NOEXCEPT {
  weir_estimator_config config;
  weir_estimator_config_init(&config, sizeof config);
  return config;
}
/* A NULL `config` selects the defaults. The caller frees *estimator with weir_estimator_destroy(). */
WEIR_API int weir_estimator_create(const weir_controller* controller, const weir_estimator_config* config,
                                   weir_estimator** estimator) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_estimator_destroy(weir_estimator* estimator) WEIR_NOEXCEPT;

/* One RTP packet as received. The host reports every packet of a stream, including padding that it drops: a missing
 * sequence number counts as a loss. */
typedef struct weir_packet {
  int64_t arrival_time_us;
  uint32_t ssrc;
  uint16_t sequence_number;
  uint8_t payload_type;
  uint8_t kind; /* weir_packet_kind */
  /* The abs-send-time header extension, 24 bits, when has_abs_send_time is not 0. */
  uint32_t has_abs_send_time;
  uint32_t abs_send_time;
  /* Used while no stream has had abs-send-time for 10 s, or when that stands still or runs at a wrong pace; so always
   * set these. The clock rate is 1000 to 1000000, 0 when unknown. */
  uint32_t rtp_timestamp;
  uint32_t rtp_clock_rate_hz;
  /* With transport-cc, header_bytes includes UDP, IP and SRTP, because the sender counts them in REMB then. */
  uint32_t header_bytes;
  uint32_t payload_bytes;
  uint32_t padding_bytes;
  uint32_t ecn; /* the ECN field of its IP header, 0 to 3, if the host has it; 0: not ECT */
} weir_packet;

/* Malformed, duplicate and late packets are counted and are not errors. An unknown kind or ECN field is an error. */
WEIR_API int weir_estimator_on_packet(weir_estimator* estimator, const weir_packet* packet) WEIR_NOEXCEPT;
/* Ends a stream (RTCP BYE or signaling): REMBs omit it until its next packet. A stream also ends after 30 s in which
 * only other streams sent. */
WEIR_API int weir_estimator_remove_stream(weir_estimator* estimator, uint32_t ssrc) WEIR_NOEXCEPT;

typedef struct weir_estimate {
  int64_t at_time_us;
  int64_t target_rate_bps;
  /* In static storage: "start", "controller", "candidate", "fallback", "held", "probe", or "guard_" and the name of
   * a guard rule, see weir_guard_rule_name(). */
  const char* reason;
} weir_estimate;

/* Returns when to call weir_estimator_on_timeout() next; INT64_MIN: at once. */
WEIR_API int64_t weir_estimator_next_timeout_us(const weir_estimator* estimator) WEIR_NOEXCEPT;
/* 1: losses do not depend on the rate at present, and a host that sends transport feedback omits them: it begins a new
 * message after each, in its own RTCP packet. A browser's LossBasedBweV2 would lower the rate for them in vain
 * (docs/remb.md). 0: they do, or `estimator` is NULL. Call it for each message. */
WEIR_API int weir_estimator_omits_losses(const weir_estimator* estimator) WEIR_NOEXCEPT;
/* Bits of the result of weir_estimator_on_timeout(). Errors are below 0, and have some of these bits, too: test for
 * them first. */
enum {
  WEIR_ESTIMATE_CHANGED = 1, /* the target or its reason has changed */
  WEIR_REMB_DUE = 2          /* the host must send a REMB, see weir_estimator_write_remb() */
};
/* Returns a set of the bits above and writes *estimate when any is set; `estimate` may be NULL. The estimator begins
 * with the first call; the start rate is in force until the first packet. */
WEIR_API int weir_estimator_on_timeout(weir_estimator* estimator, int64_t now_us,
                                       weir_estimate* estimate) WEIR_NOEXCEPT;
/* Gets the estimate in force, even before it is sent. */
WEIR_API int weir_estimator_get_estimate(const weir_estimator* estimator, weir_estimate* estimate) WEIR_NOEXCEPT;

/* Changes the objective during the call: weights as in weir_estimator_config, in force from the next decision on. */
WEIR_API int weir_estimator_set_objective(weir_estimator* estimator, float throughput, float latency,
                                          float loss) WEIR_NOEXCEPT;
/* In force from `now_us` on; the start rate matters only before the first weir_estimator_on_timeout(). */
WEIR_API int weir_estimator_set_constraints(weir_estimator* estimator, const weir_target_rate_constraints* constraints,
                                            int64_t now_us) WEIR_NOEXCEPT;
/* Replaces the controller, even during a call; the new one continues from the rate in force. On an error the old one
 * stays. */
WEIR_API int weir_estimator_set_controller(weir_estimator* estimator, const weir_controller* controller) WEIR_NOEXCEPT;
/* Reports the round-trip time from RTCP, if the host has it; ignored unless above 0 and at most a minute. */
WEIR_API int weir_estimator_on_round_trip_time(weir_estimator* estimator, int64_t round_trip_time_us,
                                               int64_t now_us) WEIR_NOEXCEPT;

/* Writes an RTCP REMB with the rate in force and the SSRCs of the streams that have not ended, at most 255; returns its
 * size. 1040 bytes are always enough. */
WEIR_API int weir_estimator_write_remb(const weir_estimator* estimator, uint32_t sender_ssrc, uint8_t* buffer,
                                       size_t buffer_size_bytes) WEIR_NOEXCEPT;

#define WEIR_REMOTE_ESTIMATE_SIZE 16
#define WEIR_REMOTE_ESTIMATE_LOWER_BPS 1000000000

/* Writes libwebrtc's RemoteEstimate (RTCP APP "goog", subtype 13, experimental there), which goes with each REMB where
 * the answer keeps transport-cc: a sender's GCC lets delay lower its rate to no less than 0.85 times this lower bound
 * of the link's capacity, so that REMB is the limit. 0 lifts it. The buffer has WEIR_REMOTE_ESTIMATE_SIZE bytes. */
WEIR_API int weir_write_remote_estimate(int64_t link_capacity_lower_bps, uint8_t* buffer) WEIR_NOEXCEPT;

#define WEIR_MAX_GUARD_RULES 16

typedef struct weir_estimator_counters {
  uint64_t decisions;          /* targets of the active controller */
  uint64_t faults;             /* its missing or invalid targets */
  uint64_t fallback_decisions; /* targets of the fallback instead */
  uint64_t late_decisions;     /* see decision_limit_us */
  uint64_t active_changes;     /* times the present pool's policy changed the active controller */
  uint64_t fusion_faults;      /* replaced rates of its custom fusion */
  uint64_t rembs_due;
  uint64_t packets_duplicate;
  uint64_t packets_reordered;
  uint64_t packets_invalid;
  uint64_t stream_restarts;
  uint64_t ssrc_evictions;
  /* Number of times that each rule of the guard changed a rate, by the index of weir_guard_rule_name(). */
  uint64_t guard[WEIR_MAX_GUARD_RULES];
} weir_estimator_counters;

/* Returns the name of a rule, in static storage, in the order in which the rules run; NULL beyond the last. */
WEIR_API const char* weir_guard_rule_name(size_t index) WEIR_NOEXCEPT;

/* `size_bytes` is sizeof *counters; likewise in the functions below. */
WEIR_API int weir_estimator_get_counters(const weir_estimator* estimator, weir_estimator_counters* counters,
                                         size_t size_bytes) WEIR_NOEXCEPT;

/* Statistics for a host's getStats. */
typedef struct weir_estimator_statistics {
  /* The rate in force, W3C's availableIncomingBitrate; reason as in weir_estimate. */
  int64_t target_rate_bps;
  const char* reason;
  /* During the last second. */
  int64_t receive_rate_bps;
  int64_t queueing_delay_us; /* mean; 0 if no packet had a send time */
  double loss_ratio;         /* 0 to 1 */
  /* Since creation, without duplicates. */
  int64_t packets_received;
  int64_t bytes_received;
  int64_t packets_lost;            /* a late packet subtracts one, so it can decrease, even below 0 */
  int64_t total_queueing_delay_us; /* sum over the packets with a send time */
  int64_t packets_with_delay;      /* those with a send time */
  /* Jumps of a sender's clock, or of the caller's clock back by more than 3 s. */
  int64_t clock_restarts;
} weir_estimator_statistics;

/* The last second ends at `now_us`. */
WEIR_API int weir_estimator_get_statistics(const weir_estimator* estimator, int64_t now_us,
                                           weir_estimator_statistics* statistics, size_t size_bytes) WEIR_NOEXCEPT;

/* ---- Weir at the sender, from transport-wide feedback ---- */

typedef struct weir_send_side weir_send_side;

/* Like weir_estimator_create(), but `log` is not called. The pacing rate is `pacing_factor` times the target rate; 0
 * selects 1.1. */
WEIR_API int weir_send_side_create(const weir_controller* controller, const weir_estimator_config* config,
                                   double pacing_factor, weir_send_side** send_side) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_send_side_destroy(weir_send_side* send_side) WEIR_NOEXCEPT;

/* A packet that is sent. */
typedef struct weir_sent_packet {
  int64_t send_time_us;
  uint32_t size_bytes;      /* as the rates count it, for example with IP and UDP; at most 65535 */
  uint16_t sequence_number; /* transport-wide */
  uint16_t kind;            /* weir_packet_kind */
  int32_t probe_cluster_id; /* 0: in no probe cluster */
} weir_sent_packet;

/* Report packets in the order of sequence numbers; others are counted and are not errors. */
WEIR_API int weir_send_side_on_sent_packet(weir_send_side* send_side, const weir_sent_packet* packet) WEIR_NOEXCEPT;

typedef enum weir_packet_fate {
  WEIR_PACKET_RECEIVED = 0,
  WEIR_PACKET_LOST = 1,
  WEIR_PACKET_FATE_UNKNOWN = 2 /* like all packets that no feedback mentions */
} weir_packet_fate;

typedef struct weir_packet_feedback {
  int64_t receive_time_us;  /* for WEIR_PACKET_RECEIVED; on the receiver's clock, whose origin does not matter */
  uint16_t sequence_number; /* transport-wide */
  uint16_t fate;            /* weir_packet_fate */
  uint32_t ecn;             /* for WEIR_PACKET_RECEIVED; the ECN field of its IP header, 0 to 3, from RFC 8888 */
} weir_packet_feedback;

/* Reports one feedback message of at most 65536 packets, in the order of sequence numbers. Impossible numbers and times
 * are counted; an unknown fate or ECN field is an error, and the message is not used. */
WEIR_API int weir_send_side_on_transport_feedback(weir_send_side* send_side, const weir_packet_feedback* feedback,
                                                  size_t feedback_count, int64_t now_us) WEIR_NOEXCEPT;
/* Returns when to call weir_send_side_on_timeout() next; INT64_MAX before the first packet and in a pause. */
WEIR_API int64_t weir_send_side_next_timeout_us(const weir_send_side* send_side) WEIR_NOEXCEPT;
WEIR_API int weir_send_side_on_timeout(weir_send_side* send_side, int64_t now_us) WEIR_NOEXCEPT;

typedef struct weir_send_side_rates {
  int64_t at_time_us; /* in force since then; INT64_MIN before the first packet */
  int64_t target_rate_bps;
  int64_t pacing_rate_bps; /* in bursts of at most 5 ms, or 1 ms once a packet has arrived as ECT(1) */
  /* A host that paces keeps at most this much in flight, and encodes no frame at this limit; INT64_MAX before the first
   * feedback and while other flows keep a queue full. A host may ignore it. */
  int64_t congestion_window_bytes;
  const char* reason; /* as in weir_estimate */
} weir_send_side_rates;

/* The rates in force. Any call that feeds or configures the estimator may have changed them. */
WEIR_API int weir_send_side_get_rates(const weir_send_side* send_side, weir_send_side_rates* rates) WEIR_NOEXCEPT;

/* For layered media, which sends less than the target until another layer fits: sets the targets for all layers, above
 * 0, and for one more layer, 0 if any increase helps. From the first call on, the host sends the probe clusters below,
 * and the target is at most what the path has been shown to carry. */
WEIR_API int weir_send_side_set_desired_rate(weir_send_side* send_side, int64_t total_bps,
                                             int64_t next_bps) WEIR_NOEXCEPT;

/* A burst that probes the available bandwidth: at least `target_probe_count` packets of about the same size, sent
 * evenly within `target_duration_us` at `target_data_rate_bps`. Media counts; padding and retransmissions fill up. */
typedef struct weir_probe_cluster {
  int64_t target_data_rate_bps;
  int64_t target_duration_us;
  int32_t target_probe_count;
  int32_t id; /* 0: none is due */
} weir_probe_cluster;

/* Gets a due cluster, each one once. Call it after feedback and timeouts. Send the cluster at once, with its id in its
 * packets. Without feedback for a second, it is given up. */
WEIR_API int weir_send_side_take_probe_cluster(weir_send_side* send_side, weir_probe_cluster* cluster) WEIR_NOEXCEPT;

typedef enum weir_congestion_state {
  WEIR_CONGESTION_NORMAL = 0,
  WEIR_CONGESTION_EARLY_WARNING = 1, /* a queue is building: do not send more */
  WEIR_CONGESTION_CONGESTED = 2      /* more is sent than the path carries: send less */
} weir_congestion_state;

typedef struct weir_network_state {
  int64_t at_time_us;        /* on the clock of the arrivals; INT64_MIN until a state is known, after half a second */
  int64_t link_capacity_bps; /* the target when the state began; while congested, the lowest receive rate */
  int32_t state;             /* weir_congestion_state */
} weir_network_state;

/* Gets the state of the path, as an SFU or an encoder may use it beside the target. */
WEIR_API int weir_send_side_get_network_state(const weir_send_side* send_side, weir_network_state* state) WEIR_NOEXCEPT;

/* As weir_estimator_set_objective(). */
WEIR_API int weir_send_side_set_objective(weir_send_side* send_side, float throughput, float latency,
                                          float loss) WEIR_NOEXCEPT;
/* The start rate sets the rate only before the first packet. Six times the start rate also raises what the guard
 * accepts on feedback alone, so pass the original one. */
WEIR_API int weir_send_side_set_constraints(weir_send_side* send_side, const weir_target_rate_constraints* constraints,
                                            int64_t now_us) WEIR_NOEXCEPT;
/* As weir_estimator_on_round_trip_time(). */
WEIR_API int weir_send_side_on_round_trip_time(weir_send_side* send_side, int64_t round_trip_time_us,
                                               int64_t now_us) WEIR_NOEXCEPT;

typedef struct weir_send_side_counters {
  uint64_t packets_received; /* reported as received, at their first report */
  uint64_t packets_lost;     /* late packets count in packets_received too */
  uint64_t packets_fate_unknown;
  uint64_t reports_duplicate;
  uint64_t reports_not_in_history; /* about packets that were never sent, or too long ago */
  uint64_t packets_invalid;
  uint64_t arrivals_late; /* reported too late to count */
  uint64_t clock_restarts;
  uint64_t probe_clusters; /* requested */
  uint64_t probes_carried; /* clusters that the path carried */
  uint64_t probes_limited; /* clusters that it did not carry; the others were inconclusive */
  uint64_t probe_bytes;    /* padding and retransmissions sent in clusters */
} weir_send_side_counters;

WEIR_API int weir_send_side_get_counters(const weir_send_side* send_side, weir_send_side_counters* counters,
                                         size_t size_bytes) WEIR_NOEXCEPT;

/* The statistics of the packets that feedback reports; the last second ends at the latest decision. A packet of unknown
 * fate counts as received. */
WEIR_API int weir_send_side_get_statistics(const weir_send_side* send_side, weir_estimator_statistics* statistics,
                                           size_t size_bytes) WEIR_NOEXCEPT;

/* ---- Layers that an SFU forwards to one subscriber within its target rate; see weir/layer_allocator.h ---- */

typedef struct weir_layer_allocator weir_layer_allocator;

/* `margin` is at most 1, 0 selects 0.1; `wait_us` is 100 ms to 32 s, 0 selects 500 ms. The caller frees *allocator with
 * weir_layer_allocator_destroy(). */
WEIR_API int weir_layer_allocator_create(double margin, int64_t wait_us,
                                         weir_layer_allocator** allocator) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_layer_allocator_destroy(weir_layer_allocator* allocator) WEIR_NOEXCEPT;

#define WEIR_MAX_MEDIA_STREAMS 64
#define WEIR_MAX_MEDIA_LAYERS 12

typedef struct weir_media_layer {
  int64_t rate_bps; /* of the whole stream when this is its highest forwarded layer; above 0 */
  int32_t width;    /* in pixels, at least 0; for the host's reports */
  int32_t height;
} weir_media_layer;

typedef struct weir_media_stream {
  uint32_t id;       /* unique */
  uint32_t kind;     /* WEIR_PACKET_VIDEO or WEIR_PACKET_AUDIO */
  int32_t priority;  /* higher first */
  int32_t may_pause; /* 0: the lowest layer is always on, as for audio */
  /* Simulcast or SVC, 1 to WEIR_MAX_MEDIA_LAYERS, with rising rates. */
  size_t layer_count;
  weir_media_layer layers[WEIR_MAX_MEDIA_LAYERS];
} weir_media_stream;

/* Replaces the streams, at most WEIR_MAX_MEDIA_STREAMS, for example when rates have been measured again. A stream with
 * the id and the number of layers of a former one continues it. */
WEIR_API int weir_layer_allocator_set_streams(weir_layer_allocator* allocator, const weir_media_stream* streams,
                                              size_t stream_count) WEIR_NOEXCEPT;

typedef struct weir_layer_allocation {
  uint32_t id;
  int32_t layer;              /* the highest layer that is forwarded; -1: the stream is paused */
  weir_media_layer forwarded; /* that layer; zeros while paused */
  /* The latest change, in static storage: "start", "headroom", "target_fell", "streams_changed" or "priority". */
  const char* reason;
  int64_t at_time_us;
} weir_layer_allocation;

/* Writes one allocation for each stream, in the order of the streams, and returns their number. Call it when the target
 * or the streams change, and every 100 ms. A now_us before that of the previous call changes nothing.
 * WEIR_ERROR_BUFFER_TOO_SMALL: `capacity` is less than the number of streams; nothing changes. */
WEIR_API int weir_layer_allocator_allocate(weir_layer_allocator* allocator, int64_t target_rate_bps, int64_t now_us,
                                           weir_layer_allocation* allocations, size_t capacity) WEIR_NOEXCEPT;

typedef struct weir_layer_rates {
  int64_t allocated_rate_bps; /* sum of the layers that are forwarded */
  /* Targets for weir_send_side_set_desired_rate(): that for all layers, and the smallest that, if it lasts, adds a
   * layer; 0 when there is nothing to add. A probe must show them. */
  int64_t desired_rate_bps;
  int64_t next_rate_bps;
} weir_layer_rates;

WEIR_API int weir_layer_allocator_get_rates(const weir_layer_allocator* allocator,
                                            weir_layer_rates* rates) WEIR_NOEXCEPT;

/* ---- Repair of a video's losses: NACK alone, or FEC in addition; see weir/repair_policy.h ----
 *
 * A receiver of an unmodified sender calls the first two functions for each packet and chooses every 100 ms to 1 s; for
 * WEIR_REPAIR_FEC its session description accepts red and ulpfec (or flexfec), for WEIR_REPAIR_NACK it does not. A
 * sender only calls weir_repair_choose_at_sender(). */

typedef struct weir_repair weir_repair;

typedef enum weir_repair_choice {
  WEIR_REPAIR_NONE = 0, /* nothing is lost, or no repair is known yet: what is in use stays */
  WEIR_REPAIR_NACK = 1,
  WEIR_REPAIR_FEC = 2
} weir_repair_choice;

/* The caller frees *repair with weir_repair_destroy(). */
WEIR_API int weir_repair_create(weir_repair** repair) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_repair_destroy(weir_repair* repair) WEIR_NOEXCEPT;

/* A packet of the video's own stream, up to four streams. */
WEIR_API int weir_repair_on_packet(weir_repair* repair, uint32_t ssrc, uint16_t sequence_number,
                                   int64_t now_us) WEIR_NOEXCEPT;
/* A packet of a retransmission stream (RFC 4588), up to four streams. `payload` begins with the original sequence
 * number, its first two bytes are enough; a payload of less is padding, and may be NULL. */
WEIR_API int weir_repair_on_retransmission(weir_repair* repair, uint32_t ssrc, uint16_t sequence_number,
                                           const uint8_t* payload, size_t payload_size, int64_t now_us) WEIR_NOEXCEPT;
/* Both return a weir_repair_choice, or an error. `rate_bps`: the sender's target rate, 0 if unknown. A now_us that is
 * not after that of the previous call changes nothing. */
WEIR_API int weir_repair_choose(weir_repair* repair, int64_t rate_bps, int64_t now_us) WEIR_NOEXCEPT;
/* `round_trip_us`: 0 if unknown. Ratios, 0 to 1, over about five seconds: of lost packets, and of feedback that the
 * return path lost. */
WEIR_API int weir_repair_choose_at_sender(weir_repair* repair, int64_t rate_bps, int64_t round_trip_us,
                                          double loss_ratio, double feedback_loss_ratio, int64_t now_us) WEIR_NOEXCEPT;

/* ---- The playout delay, for hosts that limit for how long a receiver holds video ---- */

/* The minimum to send with the maximum in the RTP header extension playout-delay. With 0 libwebrtc would render frames
 * without a jitter buffer. */
#define WEIR_MIN_PLAYOUT_DELAY_US 10000

/* Returns the maximum: the time in which a receiver renders frames that arrive late or are repaired by NACK, 100 to 250
 * ms, in multiples of 10 ms. `jitter_us` is RFC 3550's, from the latest receiver report; the frame interval that of the
 * video; `previous_us` the last result, or 0. Call it with each receiver report, about once a second: the result rises
 * at once and falls by at most 10 ms. Inputs are bounded. */
WEIR_API int64_t weir_max_playout_delay_us(int64_t jitter_us, int64_t round_trip_time_us, int64_t frame_interval_us,
                                           int64_t previous_us) WEIR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_C_WEIR_H_ */
