#include <stdio.h>
#include <weir.h>

int main(void) {
  weir_estimator_config config;
  weir_estimator* estimator;
  weir_estimate estimate = {.struct_size = sizeof(estimate)};
  weir_estimator_config_init(&config, sizeof(config));
  config.controller = "rule";
  if (weir_estimator_create(&config, &estimator) != WEIR_OK) return 1;
  if (weir_estimator_on_timeout(estimator, 0, &estimate) != 1) return 1;
  printf("%lld\n", (long long)estimate.target_rate_bps);
  weir_estimator_destroy(estimator);
  return 0;
}
