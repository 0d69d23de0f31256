#include "settings.h"

#include <string>

#include "folder.h"
#include "gtest/gtest.h"

namespace weir::mediasoup {
namespace {

std::string ErrorOf(const std::string& model, const std::string& folder) {
  std::string error;
  EXPECT_EQ(LoadSettings(model, folder, error), nullptr);
  return error;
}

TEST(SettingsTest, WrongModelsAndFoldersAreErrorsThatNameThem) {
  Folder folder;
  folder.Write("not.onnx", "this is no model");
  folder.Write("huge.onnx", std::string((16 << 20) + 1, 'x'));
  EXPECT_NE(ErrorOf(folder.path() + "/absent.onnx", "").find("absent.onnx"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.path() + "/not.onnx", "").find("not.onnx"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.path() + "/huge.onnx", "").find("16 MiB"), std::string::npos);
  EXPECT_NE(ErrorOf(folder.path(), "").find("cannot be read"), std::string::npos);
  EXPECT_NE(ErrorOf(WEIR_SHIPPED_MODEL, folder.path() + "/absent").find("is no folder"), std::string::npos);
  EXPECT_NE(ErrorOf(WEIR_SHIPPED_MODEL, folder.path() + "/not.onnx").find("is no folder"), std::string::npos);
}

TEST(SettingsTest, WithoutAFolderThereIsNoControlFile) {
  EXPECT_EQ(ShippedSettings()->in_charge, nullptr);
  Folder folder;
  EXPECT_NE(ShippedSettings(folder.path())->in_charge, nullptr);
}

}  // namespace
}  // namespace weir::mediasoup
