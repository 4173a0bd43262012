// Package config holds the settings of a host: which settings exist, their values, and where each was set.
//
// It is for the host, its command line and programs that embed it. Start at [Load], which reads every layer and
// reports all problems at once; [Config.Settings] gives the typed values, [Config.With] a copy with session
// overrides, [Config.Explain] each value with its origin, and [Specs] the registry for documentation and completion.
// To add a setting, add a row to the registry and a field to [Settings].
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
// The project file is read because it is there, and so may be a stranger's. It cannot make settings that are
// [Spec.Trusted]: which programs run and what they are kept from (plugins.dirs, .integrity, .lockFile, .isolation,
// .grants, and the limits and timeouts of plugins), where the conversation is written (transcript.dir), where it and
// a key are sent and at what cost (what a provider's profile says, compression.llm.maxCalls and .maxTokens), and what
// the host listens on (metrics.listen). Nor can it choose a profile that makes one of them, or take one that the user
// chose out of force.
//
// A file given by name stands in for the user file and the project file (the null device for none). A layer replaces
// a list as a whole. Null means "not set here", and so does an environment variable that is empty.
//
// A profile also says how a model is reached, under profiles.<name>.provider ([ProviderSpecs], [Config.Provider]).
// Keys of providers are never settings: a setting names the variable or the file that holds one.
//
// In a file, a value has its own type: 0.5 is a number, "0.5" is text and is refused where a number is wanted. The
// environment and flags have only text, which is read as the setting's type; an override may be either. Keys in files
// are nested or dotted as one likes ("compression: {threshold: 0.5}" or "compression.threshold: 0.5"). Aliases and
// merge keys of YAML are refused.
//
// The environment reaches plain settings only, not profiles.<name>, strategies.<name> and plugins.grants.<name>,
// whose names could not be told from keys. An unknown variable that begins with THRESH_ is an error, as it is most
// likely a misspelt setting. Exempt are THRESH_STRATEGY_… and THRESH_LIFELINE_FD, which pass between a host and its
// plugins.
//
// # What koanf does, and what it does not
//
// koanf merges the layers, tells what holds and what is set below a key, cuts a profile out of all layers, and decodes
// into [Settings] and [Provider]. The values that it stacks carry their origin, so that nothing is merged twice. The
// rest of this package is what koanf has no means for; read this list before replacing any of it.
//
//   - The walk over YAML nodes (walk.go, yamljson.go, syntax.go). A parser of koanf returns a plain map: the lines are
//     lost that every error and [Config.Explain] name, and so is that a key was set twice or in two ways, the digits
//     of large numbers, and the order of keys in taxonomy rules.
//   - The check of a value against its row of the registry (spec.go, check.go). The decoder behind koanf knows the
//     types of fields but neither bounds nor choices, stops being strict where text from a flag must become a number,
//     and sees the merged result, where a wrong value in a file is hidden by a right one in a flag.
//   - What a key stands for, what was probably meant by a wrong one (keys.go), and which keys a project file must not
//     set, directly or by choosing a profile (trusted.go). To koanf a key is just a path.
//   - The environment (env.go). koanf's provider leaves out unknown variables silently or takes them all, and panics
//     at an entry without "=". What remains after that check is a loop of a few lines.
//   - Reading a file (file.go). koanf's provider reads any path to its end: a named pipe that never ends, or a file
//     that is too large to be settings.
package config
