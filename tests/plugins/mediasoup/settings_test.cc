#include "settings.h"

#include <string>

#include "gtest/gtest.h"
#include "observe/folder.h"
#include "shipped_settings.h"

namespace weir::mediasoup {
namespace {

std::string ErrorOf(const std::string& model, const std::string& folder) {
  std::string error;
  EXPECT_EQ(LoadSettings(model, folder, error), nullptr);
  return error;
}

TEST(SettingsTest, WrongModelsAndFoldersAreErrorsThatNameThem) {
  observe::Folder folder;
  folder.Write("not.onnx", "this is no model");
  folder.Write("huge.onnx", std::string((16 << 20) + 1, 'x'));
  EXPECT_NE(ErrorOf(folder.path() + "/absent.onnx", "").find("absent.onnx"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.path() + "/not.onnx", "").find("not.onnx"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.path() + "/huge.onnx", "").find("16 MiB"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.path(), "").find("cannot be read"), std::string::npos);
  EXPECT_NE(ErrorOf(WEIR_SHIPPED_MODEL, folder.path() + "/absent").find("is no folder"), std::string::npos);
  EXPECT_NE(ErrorOf(WEIR_SHIPPED_MODEL, folder.path() + "/not.onnx").find("is no folder"), std::string::npos);
}

TEST(SettingsTest, WeirIsInChargeWithoutAFolderAndObservesWithOne) {
  const observe::ConnectionId id("a");
  EXPECT_TRUE(ShippedSettings()->connections->IsWeirInCharge(id, 0));
  observe::Folder folder;
  const auto observing = ShippedSettings(folder.path());
  EXPECT_FALSE(observing->connections->IsWeirInCharge(id, 0));
  folder.Write("in_charge", "1");
  EXPECT_TRUE(observing->connections->IsWeirInCharge(id, 500'000));
}

}  // namespace
}  // namespace weir::mediasoup
