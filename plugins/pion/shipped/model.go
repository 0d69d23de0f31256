// Package shipped has the model that comes with Weir.
package shipped

import (
	"sync"

	weir "weir/pion"
)

// Model is loaded once in a process.
var Model = sync.OnceValues(weir.LoadShippedModel)
