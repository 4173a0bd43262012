// The messages of the protocol are bundled.
declare module "*.binpb" {
  const bytes: Uint8Array;
  export default bytes;
}
