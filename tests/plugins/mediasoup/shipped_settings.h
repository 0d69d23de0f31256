// The settings of a worker with the shipped model.
#ifndef WEIR_TESTS_PLUGINS_MEDIASOUP_SHIPPED_SETTINGS_H_
#define WEIR_TESTS_PLUGINS_MEDIASOUP_SHIPPED_SETTINGS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "settings.h"

namespace weir::mediasoup {

// Weir is in charge of every connection if `folder` is "".
inline std::unique_ptr<Settings> ShippedSettings(const std::string& folder = "") {
  std::string error;
  auto settings = LoadSettings(WEIR_SHIPPED_MODEL, folder, error);
  EXPECT_NE(settings, nullptr) << error;
  return settings;
}

}  // namespace weir::mediasoup

#endif  // WEIR_TESTS_PLUGINS_MEDIASOUP_SHIPPED_SETTINGS_H_
