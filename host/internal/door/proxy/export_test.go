package proxy

import "time"

// SetReadIdle changes how long a client may send nothing.
func SetReadIdle(s *Server, d time.Duration) { s.readIdle = d }
