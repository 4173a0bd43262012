package network

import (
	"net/http"

	"connectrpc.com/grpchealth"
	"google.golang.org/grpc"
	grpcreflection "google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"github.com/thresh-dev/thresh/host"
)

// reflected are the services that reflection lists.
type reflected struct{}

func (reflected) GetServiceInfo() map[string]grpc.ServiceInfo {
	all := map[string]grpc.ServiceInfo{grpchealth.HealthV1ServiceName: {}}
	for _, name := range names {
		all[name] = grpc.ServiceInfo{}
	}
	return all
}

// addReflection serves what tools such as grpcurl ask for when they have no .proto files. Old ones ask for v1alpha only.
func addReflection(add func(pattern string, h http.Handler), h *host.Host) {
	// Streams run in goroutines of the library's, where a panic would end the process.
	guard := func(s any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
		defer h.Guard("reflection", &err)
		return next(s, stream)
	}
	server, options := grpc.NewServer(grpc.StreamInterceptor(guard)), grpcreflection.ServerOptions{Services: reflected{}}
	grpc_reflection_v1.RegisterServerReflectionServer(server, grpcreflection.NewServerV1(options))
	grpc_reflection_v1alpha.RegisterServerReflectionServer(server, grpcreflection.NewServer(options))
	add("/grpc.reflection.v1.ServerReflection/", server)
	add("/grpc.reflection.v1alpha.ServerReflection/", server)
}
