// The settings of a worker, from its environment.
#ifndef WEIR_PLUGINS_MEDIASOUP_SETTINGS_H_
#define WEIR_PLUGINS_MEDIASOUP_SETTINGS_H_

#include <memory>
#include <string>

#include "observe/connection.h"
#include "weir.h"

namespace weir::mediasoup {

template <auto Function>
struct Deleter {
  template <class Handle>
  void operator()(Handle* handle) const {
    Function(handle);
  }
};

struct Settings {
  std::unique_ptr<weir_controller, Deleter<weir_controller_destroy>> controller;
  std::unique_ptr<observe::Connections> connections;
};

// The library's defaults, with a clock that bounds the time of decisions.
weir_estimator_config EstimatorConfig();

// Loads the model of the file `model`. With a folder Weir observes, without one it is in charge of all connections.
// Returns null and sets `error` if there is no such model or no such folder.
std::unique_ptr<Settings> LoadSettings(const std::string& model, const std::string& folder, std::string& error);

// The settings from WEIR_MODEL and WEIR_OBSERVE; null without WEIR_MODEL: the worker is as without Weir. Ends the
// process with status 2 if they are wrong, since otherwise nobody would notice that mediasoup's own estimators decide.
const Settings* ProcessSettings();

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_SETTINGS_H_
