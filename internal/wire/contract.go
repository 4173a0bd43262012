package wire

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// Contract returns the files of proto/thresh/v1 without their comments, as 'protoc --descriptor_set_out' writes them:
// what a library of any language needs to read and write the protocol's messages.
func Contract() []byte {
	var set descriptorpb.FileDescriptorSet
	for _, file := range []protoreflect.FileDescriptor{
		threshv1.File_thresh_v1_history_proto, threshv1.File_thresh_v1_host_proto, threshv1.File_thresh_v1_strategy_proto,
	} {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(&set)
	if err != nil {
		panic(err) // descriptors that protoc made
	}
	return text
}
