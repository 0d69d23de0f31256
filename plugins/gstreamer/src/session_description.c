#include "session_description.h"

#include <string.h>

/* Above what a browser sends. */
enum { kLargestKbps = 20000 };
static const char kAbsSendTime[] = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";

/* The number of the media section, from 0, that a line of kind "m=" begins; one section after the other. */
typedef struct Section {
  int number;
  gboolean is_video;
} Section;

static void enter(Section* section, const gchar* line) {
  if (!g_str_has_prefix(line, "m=")) return;
  ++section->number;
  section->is_video = g_str_has_prefix(line, "m=video");
}

/* The payload type of "a=NAME:96 ...", where `name` is "a=NAME:"; -1 for another line. */
static int payload_type(const gchar* line, const gchar* name) {
  if (!g_str_has_prefix(line, name)) return -1;
  const guint64 value = g_ascii_strtoull(line + strlen(name), NULL, 10);
  return value < 128 ? (int)value : -1;
}

/* RTX, RED and FEC are no codecs of pictures. */
static gboolean is_video_codec(const gchar* rtpmap) {
  static const gchar* const codecs[] = {" VP8/", " VP9/", " H264/", " AV1/", " H265/"};
  for (guint i = 0; i < G_N_ELEMENTS(codecs); ++i)
    if (strstr(rtpmap, codecs[i]) != NULL) return TRUE;
  return FALSE;
}

/* The line of a section with this prefix and suffix; NULL: there is none. */
static const gchar* line_of(gchar** description, int number, const gchar* prefix, const gchar* suffix) {
  Section section = {-1, FALSE};
  for (gchar** line = description; *line != NULL; ++line) {
    enter(&section, *line);
    if (section.number == number && g_str_has_prefix(*line, prefix) && g_str_has_suffix(*line, suffix)) return *line;
  }
  return NULL;
}

static gboolean is_of_transport_cc(const gchar* line) {
  return (g_str_has_prefix(line, "a=extmap:") && strstr(line, "transport-wide-cc") != NULL) ||
         (g_str_has_prefix(line, "a=rtcp-fb:") && g_str_has_suffix(line, " transport-cc"));
}

static void append(GString* text, const gchar* line) { g_string_append_printf(text, "%s\r\n", line); }

static gchar** lines_of(const gchar* text) {
  gchar** lines = g_strsplit(text, "\n", -1);
  for (gchar** line = lines; *line != NULL; ++line) g_strchomp(*line);
  return lines;
}

static void append_codec(GString* text, gchar** offer, gchar** answer, const Section* section, int codec,
                         const gchar* bitrates) {
  gchar* remb = g_strdup_printf("a=rtcp-fb:%d goog-remb", codec);
  gchar* parameters = g_strdup_printf("a=fmtp:%d ", codec);
  if (line_of(offer, section->number, remb, "") != NULL) append(text, remb);
  /* Where the codec has parameters its bitrates are appended to them, further down. */
  if (line_of(answer, section->number, parameters, "") == NULL)
    g_string_append_printf(text, "%s%s\r\n", parameters, bitrates);
  g_free(remb);
  g_free(parameters);
}

gchar* weir_answer_with_remb(const gchar* offer, const gchar* answer, guint start_kbps) {
  gchar* bitrates = g_strdup_printf("x-google-start-bitrate=%u;x-google-max-bitrate=%d", start_kbps, kLargestKbps);
  gchar** offered = lines_of(offer);
  gchar** answered = lines_of(answer);
  GString* text = g_string_new(NULL);
  Section section = {-1, FALSE};
  gboolean codecs[128] = {FALSE};
  int extended = -1; /* the section that abs-send-time was said in last */
  for (gchar** line = answered; *line != NULL; ++line) {
    if (**line == '\0' || is_of_transport_cc(*line)) continue;
    if (g_str_has_prefix(*line, "a=extmap:") && g_str_has_suffix(*line, kAbsSendTime)) continue;
    if (g_str_has_prefix(*line, "a=rtcp-fb:") && g_str_has_suffix(*line, " goog-remb")) continue;
    if (g_str_has_prefix(*line, "m=")) memset(codecs, 0, sizeof codecs);
    enter(&section, *line);
    const int with_parameters = payload_type(*line, "a=fmtp:");
    if (with_parameters >= 0 && codecs[with_parameters]) {
      g_string_append_printf(text, "%s;%s\r\n", *line, bitrates);
      continue;
    }
    if (g_str_has_prefix(*line, "a=") && extended != section.number) {
      extended = section.number;
      const gchar* extension = line_of(offered, section.number, "a=extmap:", kAbsSendTime);
      const gchar* reduced_size = line_of(offered, section.number, "a=rtcp-rsize", "a=rtcp-rsize");
      if (extension != NULL) append(text, extension);
      if (reduced_size != NULL && line_of(answered, section.number, reduced_size, reduced_size) == NULL)
        append(text, reduced_size);
    }
    /* Whoever waits for the handshake is ready first, and its first REMB comes before the first packet. */
    append(text, strcmp(*line, "a=setup:active") == 0 ? "a=setup:passive" : *line);
    const int codec = section.is_video && is_video_codec(*line) ? payload_type(*line, "a=rtpmap:") : -1;
    if (codec < 0) continue;
    codecs[codec] = TRUE;
    append_codec(text, offered, answered, &section, codec, bitrates);
  }
  g_strfreev(offered);
  g_strfreev(answered);
  g_free(bitrates);
  return g_string_free(text, FALSE);
}
