/* The C interface of Weir: a bandwidth estimator for RTP, at the receiver or, from transport-wide feedback, at the
 * sender; and MOCC's three calls for other senders.
 *
 * Time is always an argument: microseconds of one monotonic clock of the caller's choice, within 2^61 of 0. Nothing
 * here reads a clock, starts a thread, opens a file or prints. Units stand in the names: _us, _bps, _bytes.
 *
 * Threads: calls on one handle must not overlap; different handles are independent. A weir_model is the exception: any
 * number of threads may use one at once, until one of them destroys it. The log callback runs on the calling thread,
 * before the call returns; it must neither call back into the same handle, nor throw, nor longjmp.
 *
 * Errors: functions that return int return a negative weir_error; weir_last_error() then has the sentence for the user.
 * For callers that change threads between two calls, as goroutines do, the call itself writes it into `error`, where
 * that is not NULL, cut to error_size_bytes with the terminating zero; a call that succeeds leaves `error` as it was.
 *
 * Structs, weir_named_model apart, begin with struct_size; set it to sizeof the struct. Bytes that a newer header added
 * beyond what the library knows must be zero.
 *
 * Trust: hand in only packets whose authenticity SRTP has confirmed. Everything else about them may be hostile.
 */
#ifndef WEIR_C_WEIR_H_
#define WEIR_C_WEIR_H_

#include <stddef.h>
#include <stdint.h>

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
  WEIR_ERROR_INVALID_ARGUMENT = -1, /* a null pointer, a wrong struct_size, a value out of its range */
  WEIR_ERROR_INVALID_MODEL = -2,    /* see weir_last_error() */
  WEIR_ERROR_UNKNOWN_CONTROLLER = -3,
  WEIR_ERROR_BUFFER_TOO_SMALL = -4,
  WEIR_ERROR_POLICY_FAULT = -5, /* the model failed; a safe rate is in force */
  WEIR_ERROR_OUT_OF_MEMORY = -6,
  WEIR_ERROR_INTERNAL = -7 /* a defect of the library: please report it */
} weir_error;

/* Such as "0.1.0". */
WEIR_API const char* weir_version(void) WEIR_NOEXCEPT;
/* The message of the last call on this thread that returned an error; valid until the next one does. "" when none has.
 */
WEIR_API const char* weir_last_error(void) WEIR_NOEXCEPT;

typedef enum weir_log_severity { WEIR_LOG_INFO = 0, WEIR_LOG_WARNING = 1 } weir_log_severity;
/* `message` is one line without its end, valid during the call. */
typedef void (*weir_log_callback)(void* argument, weir_log_severity severity, const char* message);

/* ---- Model ---- */

/* A policy (ONNX), read and checked, for any number of estimators and senders. */
typedef struct weir_model weir_model;

/* `model`: in memory, not used after the call. On success *out is to be freed with weir_model_destroy(), on error it is
 * NULL. Takes milliseconds; whoever uses the result then takes microseconds. */
WEIR_API int weir_model_load(const void* model, size_t model_size_bytes, weir_model** out, char* error,
                             size_t error_size_bytes) WEIR_NOEXCEPT;
/* NULL is allowed. What was made with the model keeps what it needs of it. */
WEIR_API void weir_model_destroy(weir_model* model) WEIR_NOEXCEPT;

/* ---- Estimator ---- */

typedef struct weir_estimator weir_estimator;

/* A policy for the member "weir:NAME" of a pool: `loaded`, or where that is NULL, ONNX in memory. */
typedef struct weir_named_model {
  const char* name;
  const void* model;
  size_t model_size_bytes;
  const weir_model* loaded;
} weir_named_model;

/* A pool's own fusion: one rate out of the pilot's and those of the copilots that have a vote. Called during
 * weir_estimator_on_timeout(), with the same rules as the log callback. A rate below or above all that it was given is
 * replaced by the pilot's and counted. */
typedef int64_t (*weir_fusion_callback)(void* argument, int64_t pilot_bps, const int64_t* copilots_bps,
                                        size_t copilot_count);

/* Microseconds of a monotonic clock; called during weir_estimator_on_timeout(), with the rules of the log callback. */
typedef int64_t (*weir_clock_callback)(void* argument);

typedef struct weir_estimator_config {
  size_t struct_size;
  /* NULL: the model decides. Else "rule", "nada" or "fixed" (the start rate, for ever), and `model` must be NULL. */
  const char* controller;
  /* An ONNX policy in memory; not used after the call that creates. Or NULL, and `loaded_model` below. */
  const void* model;
  size_t model_size_bytes;
  int64_t min_rate_bps;
  int64_t start_rate_bps;
  int64_t max_rate_bps;
  /* Weights, each above 0; divided by their sum. */
  float objective_throughput;
  float objective_latency;
  float objective_loss;
  /* 0: no limit on rises, no decay in silence; for experiments. */
  int32_t guard;
  /* May be NULL. Told when the controller fails and the fallback takes over, and when it is back. */
  weir_log_callback log;
  void* log_argument;
  /* NULL, or several controllers in one line, such as "pilot=weir copilots=nada,rule fusion=min policy=by_trust"
   * (weir/pool/pool_specification.h); `controller` must then be NULL, and `model` is that of the member "weir". */
  const char* pool;
  /* Of members "weir:NAME"; not used after the call that creates. */
  const weir_named_model* models;
  size_t model_count;
  /* Of "fusion=user"; may be NULL. */
  weir_fusion_callback fusion;
  void* fusion_argument;
  /* NULL, or a clock: an answer that took a controller longer than decision_limit_us by it is dropped, counts as late
   * and as a fault. 0: 50 ms. */
  weir_clock_callback clock;
  void* clock_argument;
  int64_t decision_limit_us;
  /* NULL, or in place of `model`; may be destroyed after the call that creates. */
  const weir_model* loaded_model;
  /* NULL, or where every call on this estimator that fails, the one that creates it included, writes why; to outlive
   * the estimator. */
  char* error;
  size_t error_size_bytes;
} weir_estimator_config;

/* Sets the defaults: 30 kbps, 300 kbps, 50 Mbps, the balanced objective <0.4,0.5,0.1>, guard on. */
WEIR_API int weir_estimator_config_init(weir_estimator_config* config, size_t struct_size) WEIR_NOEXCEPT;
/* On success *estimator is to be freed with weir_estimator_destroy(), on error it is NULL. */
WEIR_API int weir_estimator_create(const weir_estimator_config* config, weir_estimator** estimator) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_estimator_destroy(weir_estimator* estimator) WEIR_NOEXCEPT;

typedef enum weir_packet_kind {
  WEIR_PACKET_VIDEO = 0,
  WEIR_PACKET_AUDIO = 1,
  WEIR_PACKET_PROBE = 2,
  WEIR_PACKET_RETRANSMISSION = 3
} weir_packet_kind;

/* One RTP packet as received. */
typedef struct weir_packet {
  size_t struct_size;
  int64_t arrival_time_us;
  uint32_t ssrc;
  uint16_t sequence_number;
  uint8_t payload_type;
  uint8_t kind; /* weir_packet_kind */
  /* The abs-send-time header extension, 24 bits, when has_abs_send_time is not 0. */
  uint32_t has_abs_send_time;
  uint32_t abs_send_time;
  /* Used where abs-send-time is missing; the clock rate is 0 when unknown. */
  uint32_t rtp_timestamp;
  uint32_t rtp_clock_rate_hz;
  uint32_t header_bytes;
  uint32_t payload_bytes;
  uint32_t padding_bytes;
} weir_packet;

/* Malformed, duplicate and late packets are no errors: they are counted. */
WEIR_API int weir_estimator_on_packet(weir_estimator* estimator, const weir_packet* packet) WEIR_NOEXCEPT;
/* A packet was sent, and nobody knows whether it arrived, as where the feedback about it was lost: it counts neither as
 * received nor as lost. Told before the next packet of the stream that arrived; what is told of it later is a
 * duplicate.
 */
WEIR_API int weir_estimator_on_packet_fate_unknown(weir_estimator* estimator, uint32_t ssrc,
                                                   uint16_t sequence_number) WEIR_NOEXCEPT;
/* A stream has ended, as RTCP BYE or signalling says: it leaves the REMB until it is heard again. By itself it leaves
 * after 30 s in which others were heard. */
WEIR_API int weir_estimator_remove_stream(weir_estimator* estimator, uint32_t ssrc) WEIR_NOEXCEPT;

typedef struct weir_estimate {
  size_t struct_size;
  int64_t at_time_us;
  int64_t target_rate_bps;
  /* In static storage: "start", "pilot", "copilot", "fallback", "held", or "guard_" and the name of a guard rule, see
   * weir_guard_rule_name(). */
  const char* reason;
} weir_estimate;

/* When to call weir_estimator_on_timeout() next; INT64_MIN: at once. */
WEIR_API int64_t weir_estimator_next_timeout_us(const weir_estimator* estimator) WEIR_NOEXCEPT;
/* Bits of the result of weir_estimator_on_timeout(). */
enum {
  WEIR_ESTIMATE_CHANGED = 1, /* the target or its reason has changed */
  WEIR_REMB_DUE = 2          /* now is the time for weir_estimator_write_remb() */
};
/* A set of the bits above; when any is set, so is *estimate, which may be NULL. The estimator is active from the first
 * call; the start rate is in force until the first packet. */
WEIR_API int weir_estimator_on_timeout(weir_estimator* estimator, int64_t now_us,
                                       weir_estimate* estimate) WEIR_NOEXCEPT;
/* The rate in force, whether or not it was sent yet. */
WEIR_API int weir_estimator_latest(const weir_estimator* estimator, weir_estimate* estimate) WEIR_NOEXCEPT;

WEIR_API int weir_estimator_set_objective(weir_estimator* estimator, float throughput, float latency,
                                          float loss) WEIR_NOEXCEPT;
/* Seats, fusion and policy among the members that the pool was made with; the others go on watching. */
WEIR_API int weir_estimator_set_pool(weir_estimator* estimator, const char* pool) WEIR_NOEXCEPT;

/* Another model (ONNX) takes the place of the member "weir" (`member` NULL) or "weir:NAME", in a call too: it goes on
 * from the rate in force. `model` is not used after the call; on an error the old one stays. */
WEIR_API int weir_estimator_replace_model(weir_estimator* estimator, const char* member, const void* model,
                                          size_t model_size_bytes) WEIR_NOEXCEPT;
/* The same with a model that is loaded already; it may be destroyed after the call. */
WEIR_API int weir_estimator_set_model(weir_estimator* estimator, const char* member,
                                      const weir_model* model) WEIR_NOEXCEPT;

typedef struct weir_pool_member {
  size_t struct_size;
  /* Valid as long as the estimator. */
  const char* name;
  /* "pilot", "copilot", "watching" or "suspended", in static storage. */
  const char* role;
  /* What it asked for last; 0 before its first answer. */
  int64_t rate_bps;
  /* Under by_trust, of the line's pilot, 0 to 1; of all others 1. */
  double trust;
} weir_pool_member;

/* How many members there are; 1 without a pool. */
WEIR_API int weir_estimator_pool_size(const weir_estimator* estimator) WEIR_NOEXCEPT;
/* `index` from 0, in the order of the line that made the pool. */
WEIR_API int weir_estimator_get_pool_member(const weir_estimator* estimator, size_t index,
                                            weir_pool_member* member) WEIR_NOEXCEPT;

WEIR_API int weir_estimator_set_constraints(weir_estimator* estimator, int64_t min_rate_bps, int64_t start_rate_bps,
                                            int64_t max_rate_bps, int64_t now_us) WEIR_NOEXCEPT;
WEIR_API int weir_estimator_on_round_trip_time(weir_estimator* estimator, int64_t round_trip_time_us,
                                               int64_t now_us) WEIR_NOEXCEPT;

/* Writes an RTCP REMB with the rate in force and the SSRCs of the streams that have not ended, at most 255; returns its
 * size. 1040 bytes are always enough. */
WEIR_API int weir_estimator_write_remb(const weir_estimator* estimator, uint32_t sender_ssrc, uint8_t* buffer,
                                       size_t buffer_size_bytes) WEIR_NOEXCEPT;

#define WEIR_MAX_GUARD_RULES 16

typedef struct weir_estimator_counters {
  size_t struct_size;
  uint64_t decisions;
  uint64_t policy_faults;
  uint64_t fallback_decisions;
  uint64_t feedbacks; /* REMBs that were due */
  uint64_t packets_duplicate;
  uint64_t packets_reordered;
  uint64_t packets_invalid;
  uint64_t stream_restarts;
  uint64_t ssrc_evictions;
  /* Times the pool's policy gave the pilot's seat to another; rates of a user's fusion that were replaced. */
  uint64_t pilot_changes;
  uint64_t fusion_faults;
  /* Answers of controllers that were dropped, see decision_limit_us. */
  uint64_t late_decisions;
  /* Number of times that each rule of the guard changed a rate, by the index of weir_guard_rule_name(). */
  uint64_t guard[WEIR_MAX_GUARD_RULES];
} weir_estimator_counters;

/* The name of a rule, in static storage, in the order in which the rules run; NULL from their number on. */
WEIR_API const char* weir_guard_rule_name(size_t index) WEIR_NOEXCEPT;

WEIR_API int weir_estimator_get_counters(const weir_estimator* estimator,
                                         weir_estimator_counters* counters) WEIR_NOEXCEPT;

/* For a host's getStats. */
typedef struct weir_estimator_statistics {
  size_t struct_size;
  /* In force, and why: W3C's availableIncomingBitrate; as in weir_estimate. */
  int64_t target_rate_bps;
  const char* reason;
  /* Of the last second. */
  int64_t receive_rate_bps;
  int64_t queueing_delay_us; /* the mean; 0 where nothing had a send time */
  double loss_ratio;         /* 0 to 1 */
  /* Since the estimator was made; duplicates count nowhere. */
  int64_t packets_received;
  int64_t bytes_received;
  int64_t packets_lost; /* a packet that comes late is taken back, so that it can fall, also below 0 */
  int64_t packets_fate_unknown;
  int64_t total_queueing_delay_us; /* of the packets with a send time */
  int64_t packets_with_delay;      /* how many these are */
  /* How often a sender's clock had leapt, or the caller's was set back by more than 3 s. */
  int64_t clock_restarts;
  /* Which of the kinds of paths that it was trained on the pilot's model takes this one for, from 1; 0 where it does
   * not say, or does not know yet. */
  int64_t path_kind;
} weir_estimator_statistics;

/* `now_us`: what the last second ends at. */
WEIR_API int weir_estimator_get_statistics(const weir_estimator* estimator, int64_t now_us,
                                           weir_estimator_statistics* statistics) WEIR_NOEXCEPT;
/* ---- Weir at the sender, from transport-wide feedback ---- */

typedef struct weir_send_side weir_send_side;

/* As weir_estimator_create(), with the same config; `log` is not called. The pacing rate is `pacing_factor` times the
 * target rate; 0: 2.5. */
WEIR_API int weir_send_side_create(const weir_estimator_config* config, double pacing_factor,
                                   weir_send_side** send_side) WEIR_NOEXCEPT;
/* NULL is allowed. */
WEIR_API void weir_send_side_destroy(weir_send_side* send_side) WEIR_NOEXCEPT;

/* A packet as it leaves. */
typedef struct weir_sent_packet {
  size_t struct_size;
  int64_t send_time_us;
  uint32_t size_bytes;      /* the rates count these: with IP and UDP, say; at most 65535 */
  uint16_t sequence_number; /* transport-wide */
  uint16_t kind;            /* weir_packet_kind */
} weir_sent_packet;

/* In the order of sequence numbers; others are no errors: they are counted. */
WEIR_API int weir_send_side_on_sent_packet(weir_send_side* send_side, const weir_sent_packet* packet) WEIR_NOEXCEPT;

typedef enum weir_packet_fate {
  WEIR_PACKET_RECEIVED = 0,
  WEIR_PACKET_LOST = 1,
  WEIR_PACKET_FATE_UNKNOWN = 2 /* as of all packets that no feedback mentions */
} weir_packet_fate;

typedef struct weir_packet_feedback {
  int64_t receive_time_us;  /* of WEIR_PACKET_RECEIVED; by the receiver's clock, whose origin does not matter */
  uint16_t sequence_number; /* transport-wide */
  uint16_t fate;            /* weir_packet_fate */
} weir_packet_feedback;

/* All that one feedback message says, at most 65536 packets, in the order of sequence numbers. Anything may be wrong
 * with it: it is counted. */
WEIR_API int weir_send_side_on_transport_feedback(weir_send_side* send_side, const weir_packet_feedback* feedback,
                                                  size_t feedback_count, int64_t now_us) WEIR_NOEXCEPT;
/* When to call weir_send_side_on_timeout() next; INT64_MAX: not before a packet was sent. */
WEIR_API int64_t weir_send_side_next_timeout_us(const weir_send_side* send_side) WEIR_NOEXCEPT;
WEIR_API int weir_send_side_on_timeout(weir_send_side* send_side, int64_t now_us) WEIR_NOEXCEPT;

typedef struct weir_send_side_rates {
  size_t struct_size;
  int64_t at_time_us; /* since when; INT64_MIN before a packet was sent */
  int64_t target_rate_bps;
  int64_t pacing_rate_bps;
  const char* reason; /* as of weir_estimate */
} weir_send_side_rates;

/* The rates in force. They may have changed after each of the three calls weir_send_side_on_...(). */
WEIR_API int weir_send_side_get_rates(const weir_send_side* send_side, weir_send_side_rates* rates) WEIR_NOEXCEPT;

WEIR_API int weir_send_side_set_objective(weir_send_side* send_side, float throughput, float latency,
                                          float loss) WEIR_NOEXCEPT;
WEIR_API int weir_send_side_set_constraints(weir_send_side* send_side, int64_t min_rate_bps, int64_t start_rate_bps,
                                            int64_t max_rate_bps) WEIR_NOEXCEPT;
WEIR_API int weir_send_side_on_round_trip_time(weir_send_side* send_side, int64_t round_trip_time_us) WEIR_NOEXCEPT;

typedef struct weir_send_side_counters {
  size_t struct_size;
  uint64_t packets_received; /* reported as received, at their first report */
  uint64_t packets_lost;     /* those that came after all are in packets_received too */
  uint64_t packets_fate_unknown;
  uint64_t reports_duplicate;
  uint64_t reports_not_in_history; /* on packets that were never sent, or too long ago */
  uint64_t packets_invalid;
  uint64_t arrivals_late; /* that became known too late: not counted */
  uint64_t clock_restarts;
} weir_send_side_counters;

WEIR_API int weir_send_side_get_counters(const weir_send_side* send_side,
                                         weir_send_side_counters* counters) WEIR_NOEXCEPT;

/* ---- MOCC's calls, for senders that have statistics rather than packets ---- */

typedef struct weir_mocc weir_mocc;

typedef struct weir_mocc_config {
  size_t struct_size;
  const void* model;
  size_t model_size_bytes;
  int64_t min_rate_bps;
  int64_t start_rate_bps;
  int64_t max_rate_bps;
  /* NULL, or in place of `model`; may be destroyed after the call that makes the sender. */
  const weir_model* loaded_model;
  /* NULL, or where every call on this sender that fails, the one that makes it included, writes why; to outlive it. */
  char* error;
  size_t error_size_bytes;
} weir_mocc_config;

WEIR_API int weir_mocc_config_init(weir_mocc_config* config, size_t struct_size) WEIR_NOEXCEPT;
/* Register(w). With *mocc NULL a sender is made from `config`; else its objective changes and `config` is not read. */
WEIR_API int weir_mocc_register(weir_mocc** mocc, const weir_mocc_config* config, float throughput, float latency,
                                float loss) WEIR_NOEXCEPT;
WEIR_API void weir_mocc_destroy(weir_mocc* mocc) WEIR_NOEXCEPT;

typedef struct weir_mocc_status {
  size_t struct_size;
  int64_t interval_us;     /* above 0, at most a minute */
  double sending_ratio;    /* packets sent over acknowledged; 100 when none was acknowledged */
  double latency_ratio;    /* mean latency over the smallest mean latency so far, at least 1 */
  double latency_gradient; /* change of latency over time, s/s */
  int64_t throughput_bps;  /* acknowledged */
  int64_t packets_acknowledged;
  int64_t packets_lost;
  int64_t base_latency_us; /* the smallest mean latency so far, one way; 0: unknown */
} weir_mocc_status;

/* The interval between two reports that the model was made for. */
WEIR_API int64_t weir_mocc_interval_us(const weir_mocc* mocc) WEIR_NOEXCEPT;
/* ReportStatus(s). WEIR_ERROR_POLICY_FAULT: the rate fell to what was acknowledged. */
WEIR_API int weir_mocc_report_status(weir_mocc* mocc, const weir_mocc_status* status) WEIR_NOEXCEPT;
/* GetSendingRate(). */
WEIR_API int64_t weir_mocc_get_sending_rate_bps(const weir_mocc* mocc) WEIR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_C_WEIR_H_ */
