// Stands in for the libsrtp 3 that mediasoup is written for, over Debian's libsrtp 2: only the calls that its worker
// makes, in C++.
#ifndef WEIR_PLUGINS_MEDIASOUP_DEBIAN_SRTP_H_
#define WEIR_PLUGINS_MEDIASOUP_DEBIAN_SRTP_H_

#define srtp_policy_t srtp2_policy_t
#include <srtp2/srtp.h>
#undef srtp_policy_t

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

constexpr auto srtp_err_status_buffer_small = static_cast<srtp_err_status_t>(srtp_err_status_pkt_idx_adv + 1);
constexpr auto srtp_err_status_cryptex_err = static_cast<srtp_err_status_t>(srtp_err_status_pkt_idx_adv + 2);

// In libsrtp 3 a policy is a handle.
struct weir_srtp_policy {
  srtp2_policy_t policy{};
  std::array<uint8_t, SRTP_MAX_KEY_LEN> key{};
};
using srtp_policy_t = weir_srtp_policy*;

inline srtp_err_status_t srtp_policy_create(srtp_policy_t* policy) {
  *policy = new weir_srtp_policy;
  (*policy)->policy.key = (*policy)->key.data();
  return srtp_err_status_ok;
}

inline void srtp_policy_destroy(srtp_policy_t policy) { delete policy; }

inline srtp_err_status_t srtp_policy_set_ssrc(srtp_policy_t policy, srtp_ssrc_t ssrc) {
  policy->policy.ssrc = ssrc;
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_profile(srtp_policy_t policy, srtp_profile_t profile) {
  const srtp_err_status_t error = srtp_crypto_policy_set_from_profile_for_rtp(&policy->policy.rtp, profile);
  if (error != srtp_err_status_ok) return error;
  return srtp_crypto_policy_set_from_profile_for_rtcp(&policy->policy.rtcp, profile);
}

// One key, without an MKI.
inline srtp_err_status_t srtp_policy_add_key(srtp_policy_t policy, const uint8_t* key, size_t key_bytes,
                                             const uint8_t* salt, size_t salt_bytes, const uint8_t* mki,
                                             size_t mki_bytes) {
  if (mki != nullptr || mki_bytes != 0 || key_bytes + salt_bytes > policy->key.size()) return srtp_err_status_bad_param;
  std::copy_n(salt, salt_bytes, std::copy_n(key, key_bytes, policy->key.begin()));
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_allow_repeat_tx(srtp_policy_t policy, bool allow) {
  policy->policy.allow_repeat_tx = allow;
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_window_size(srtp_policy_t policy, size_t packets) {
  policy->policy.window_size = packets;
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_create(srtp_t* session, srtp_policy_t policy) {
  return srtp_create(session, &policy->policy);
}

inline srtp_err_status_t srtp_stream_remove(srtp_t session, uint32_t ssrc) { return srtp_remove_stream(session, ssrc); }

// libsrtp 2 works in place and does not check the buffer; the worker's are large enough. `output` may be `input`.
template <class Function>
srtp_err_status_t WeirSrtpInPlace(Function function, srtp_t session, const uint8_t* input, size_t input_bytes,
                                  uint8_t* output, size_t* output_bytes) {
  if (input_bytes > *output_bytes) return srtp_err_status_buffer_small;
  if (output != input) std::copy_n(input, input_bytes, output);
  int size = static_cast<int>(input_bytes);
  const srtp_err_status_t error = function(session, output, &size);
  if (error == srtp_err_status_ok) *output_bytes = static_cast<size_t>(size);
  return error;
}

inline srtp_err_status_t srtp_protect(srtp_t session, const uint8_t* rtp, size_t rtp_bytes, uint8_t* srtp,
                                      size_t* srtp_bytes, size_t /*mki_index*/) {
  constexpr srtp_err_status_t (*kProtect)(srtp_t, void*, int*) = srtp_protect;
  return WeirSrtpInPlace(kProtect, session, rtp, rtp_bytes, srtp, srtp_bytes);
}

inline srtp_err_status_t srtp_unprotect(srtp_t session, const uint8_t* srtp, size_t srtp_bytes, uint8_t* rtp,
                                        size_t* rtp_bytes) {
  constexpr srtp_err_status_t (*kUnprotect)(srtp_t, void*, int*) = srtp_unprotect;
  return WeirSrtpInPlace(kUnprotect, session, srtp, srtp_bytes, rtp, rtp_bytes);
}

inline srtp_err_status_t srtp_protect_rtcp(srtp_t session, const uint8_t* rtcp, size_t rtcp_bytes, uint8_t* srtcp,
                                           size_t* srtcp_bytes, size_t /*mki_index*/) {
  constexpr srtp_err_status_t (*kProtect)(srtp_t, void*, int*) = srtp_protect_rtcp;
  return WeirSrtpInPlace(kProtect, session, rtcp, rtcp_bytes, srtcp, srtcp_bytes);
}

inline srtp_err_status_t srtp_unprotect_rtcp(srtp_t session, const uint8_t* srtcp, size_t srtcp_bytes, uint8_t* rtcp,
                                             size_t* rtcp_bytes) {
  constexpr srtp_err_status_t (*kUnprotect)(srtp_t, void*, int*) = srtp_unprotect_rtcp;
  return WeirSrtpInPlace(kUnprotect, session, srtcp, srtcp_bytes, rtcp, rtcp_bytes);
}

#endif  // WEIR_PLUGINS_MEDIASOUP_DEBIAN_SRTP_H_
