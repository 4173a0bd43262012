import { status, type ServiceError } from "@grpc/grpc-js";

/** An error that ends a call with a gRPC status. The message is a sentence for people. */
export class CallError extends Error {
  constructor(
    readonly code: status,
    message: string,
  ) {
    super(message);
  }
}

export const invalid = (message: string) => new CallError(status.INVALID_ARGUMENT, message);
export const precondition = (message: string) => new CallError(status.FAILED_PRECONDITION, message);

/**
 * Returns the status to end a call with. Errors of the host's services keep their code, as the protocol asks. Any other
 * exception is an error of the strategy.
 */
export function toStatus(e: unknown): { code: status; details: string } {
  if (e instanceof CallError) {
    return { code: e.code, details: e.message };
  }
  const { code, details } = e as Partial<ServiceError>;
  if (typeof code === "number" && typeof details === "string") {
    return { code, details };
  }
  if (e instanceof Error && e.name === "AbortError") {
    return { code: status.CANCELLED, details: "the call was cancelled" };
  }
  return { code: status.UNKNOWN, details: e instanceof Error ? e.message : String(e) };
}
