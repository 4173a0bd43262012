#!/bin/sh
# Fetches the recorded sessions of docs/economics.md into a directory, with git: fetch.sh DIR [LIST]. What is there
# already stays. Each file is known by its hash, so everybody gets the same. CORPUS_ORIGIN is where the repositories are.
set -eu
dir=$1 list=${2:-$(dirname "$0")/sessions.tsv} origin=${CORPUS_ORIGIN:-https://github.com}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

grep -v '^#' "$list" | while IFS='	' read -r file repository commit blob part licence path; do
	[ -e "$dir/$file" ] && continue
	git=$work/$repository
	if [ ! -d "$git" ]; then
		git init -q --bare "$git"
		git -C "$git" remote add origin "$origin/$repository"
	fi
	# Without contents: only the blobs that are named are fetched.
	GIT_NO_LAZY_FETCH=1 git -C "$git" cat-file -e "$commit" 2>/dev/null ||
		git -C "$git" fetch -q --depth 1 --filter=blob:none origin "$commit"
	git -C "$git" cat-file blob "$blob" >"$work/whole"
	mkdir -p "$(dirname "$dir/$file")"
	case $part in
	whole) cp "$work/whole" "$dir/$file.part" ;;
	line*) sed -n "${part#line }p" "$work/whole" >"$dir/$file.part" ;;
	element*) jq ".[${part#element }]" "$work/whole" >"$dir/$file.part" ;;
	esac
	mv "$dir/$file.part" "$dir/$file"
	echo "$file	$repository	$licence"
done
