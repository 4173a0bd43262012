// Package config holds the settings of a host: which settings exist, their values, and where each was set.
//
// It is for the host, its command line and programs that embed it. Start at [Load], which reads every layer and reports
// all problems at once. [Config.Settings] gives the typed values, [Config.With] a copy with session overrides,
// [Config.Explain] each value with its origin, and [Specs] the registry for documentation and completion.
//
// Layers, later ones win:
//
//	default      the registry
//	user         $XDG_CONFIG_HOME/thresh/thresh.yaml, else ~/.config/thresh/thresh.yaml
//	project      thresh.yaml in the working directory
//	profile      profiles.<name> of any layer, chosen by the setting "profile"
//	environment  THRESH_COMPRESSION_DENSITY_READ_WRITE_PRUNING and so on
//	flag         --set key=value
//	session      Config.With
//
// The project file is read because it is there, so a stranger may have written it. It cannot set what [Spec.By] denies
// it: which programs run and what confines them, where the conversation and keys are sent or written, what that may
// cost, and what the host listens on. Nor can it choose or displace a profile that sets any of these.
//
// A file given by name replaces the user file and the project file (the null device for none). A layer replaces a list
// as a whole. Null and an empty environment variable mean "not set here".
//
// A profile also says how a model is reached, under profiles.<name>.provider ([ProviderSpecs], [Config.Provider]).
// Keys of providers are never settings: a setting names the variable or the file that holds one.
//
// In a file, a value has its own type: 0.5 is a number; "0.5" is text, and is refused where a number is wanted. Text
// from the environment and flags is read as the setting's type; an override may be either. Keys in files may be nested
// or dotted ("compression: {threshold: 0.5}" or "compression.threshold: 0.5"). YAML aliases and merge keys are refused.
//
// The environment sets plain settings only, not profiles.<name>, strategies.<name> and plugins.grants.<name>, whose
// names could not be told from keys. An unknown variable that begins with THRESH_ is an error, as it is most likely a
// misspelt setting. Exempt are THRESH_STRATEGY_… and THRESH_LIFELINE_FD, which pass between a host and its plugins.
//
// # What koanf does, and what it does not
//
// koanf reads the environment, merges the layers, tells what is set below a key, cuts a profile out of all layers, and decodes into [Settings]
// and [Provider]. The values it stacks carry their origin, so nothing is merged twice. Read this list of what koanf
// cannot do before replacing any of the rest:
//
//   - The walk over YAML nodes (walk.go, syntax.go). koanf's parsers return a plain map, without the lines that
//     errors and [Config.Explain] name and without keys set twice.
//   - The check of a value (spec.go, check.go). The decoder behind koanf knows types but neither bounds nor choices,
//     is lax where text becomes a number, and sees only the merged result, where a flag hides a wrong value in a file.
//   - What a key means and what was probably meant by a wrong one (keys.go), and who may set it (setter.go).
//   - The flags. koanf's posflag takes each flag for the key of its name, without the flag that an error names; here
//     most settings come from one flag, --set KEY=VALUE.
//   - Reading a file (package atomicfile). koanf's provider is os.ReadFile, which waits for a named pipe and reads a huge
//     file to its end.
package config
