// Package contract is what every host does, whoever calls it how: the behaviours of package api, for tests that have a
// host in their process and one that is served. A behaviour is added here, not in one side's tests. Start at [Exercise].
package contract
