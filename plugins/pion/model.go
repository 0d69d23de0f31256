package weir

/*
#include <stdlib.h>
#include <weir.h>
*/
import "C"

import (
	"os"
	"sync"
	"unsafe"
)

// Model is a policy (ONNX), read and checked once for any number of estimators, which keep what they need of it.
type Model struct {
	mutex  sync.RWMutex
	handle *C.weir_model
}

// LoadModel reads a model from memory; it takes milliseconds.
func LoadModel(onnx []byte) (*Model, error) {
	message := newMessage()
	defer C.free(unsafe.Pointer(message))
	model := &Model{}
	code := C.weir_model_load(unsafe.Pointer(unsafe.SliceData(onnx)), C.size_t(len(onnx)), &model.handle, message, messageBytes)
	if err := failure(code, message); err != nil {
		return nil, err
	}
	return model, nil
}

// LoadModelFile reads a model from a file.
func LoadModelFile(path string) (*Model, error) {
	onnx, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return LoadModel(onnx)
}

// Close frees the model; what was made with it goes on. A second call does nothing.
func (m *Model) Close() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	C.weir_model_destroy(m.handle)
	m.handle = nil
}
