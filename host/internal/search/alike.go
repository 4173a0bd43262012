package search

import (
	"strings"
	"sync"
)

// stem returns a word without what English adds to it, and the word itself if that is nothing: retries and retrying are
// retry, failed is fail. It is no linguist: what it makes of a word need only be the same for the forms of that word.
func stem(word string) string {
	if len(word) < 5 || len(word) > 24 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	for _, end := range [...]struct{ from, to string }{
		{"ies", "y"}, {"ied", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"},
		{"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""}, {"ing", ""}, {"ed", ""},
	} {
		left, ok := strings.CutSuffix(word, end.from)
		if !ok {
			continue
		}
		if len(left)+len(end.to) < 3 || !strings.ContainsAny(left, "aeiouy") {
			return word
		}
		if n := len(left); (end.from == "ing" || end.from == "ed") && left[n-1] == left[n-2] &&
			!strings.ContainsRune("lsz", rune(left[n-1])) {
			left = left[:n-1] // running is run
		}
		return left + end.to
	}
	return word
}

// forms returns what the index may have of a word besides the word.
func forms(word string) (all []string) {
	s := stem(word)
	if s != word {
		all = append(all, s)
		if strings.HasSuffix(word, "ing") || strings.HasSuffix(word, "ed") {
			all = append(all, s+"e") // parsing is parse
		}
	} else if without, ok := strings.CutSuffix(word, "e"); ok && len(word) > 4 {
		all = append(all, without) // and parse is found where parsing has the stem pars
	}
	return all
}

// meanAlike are words that programmers use for one thing, a line for each, in other languages too where errors and
// questions are written in them.
const meanAlike = `
error errors fail failed failure exception traceback panic fatal crash fehler erreur ошибка 错误 エラー 오류 에러 실패
test tests spec тест 测试 テスト 테스트
file datei fichier archivo файл 文件 ファイル 파일
function func def fn method fonction función funktion функция 函数 関数 함수
delete remove rm drop unlink erase löschen supprimer удалить 删除 削除 삭제
create add new make mkdir insert
change edit modify update replace rename ändern изменить 修改 変更 변경 수정
config configuration settings setting options option conf preferences 配置 設定 설정
directory dir folder verzeichnis dossier 目录 ディレクトリ 디렉터리
argument arguments args arg parameter parameters params param kwargs flag
find search lookup query grep suchen
read load open fetch get
write save store persist
run execute exec invoke launch start
stop kill quit exit terminate abort cancel
timeout deadline expired zeitüberschreitung 超时 タイムアウト 타임아웃
authentication auth authorization login signin credentials
password secret token credential passwd passwort mot contraseña пароль 密码 パスワード 비밀번호
database db sql datenbank 数据库 データベース 데이터베이스
repository repo
dependency dependencies package module library requirements
import require include
null nil none undefined
boolean bool
integer int number
string str text
wait sleep delay
retry retries attempt attempts backoff 重试 再試行 재시도
maximum max most limit limits bound cap
minimum min least
size length len count
version release
branch fork
port ports порт 端口 ポート 포트
user users benutzer utilisateur usuario пользователь 用户 ユーザー 사용자
url link address endpoint host
environment env
permission permissions denied forbidden eacces eperm
missing absent enoent
duplicate duplicates copy
two 2
three 3
four 4
five 5
six 6
seven 7
eight 8
nine 9
ten 10
twelve 12
hundred 100
thousand 1000
million 1000000
`

var groupOf = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(meanAlike) {
		words := strings.Fields(line)
		for _, w := range words {
			all[w] = words
		}
	}
	return all
})

// synonyms returns the words that mean about the same.
func synonyms(word string) []string {
	if all, ok := groupOf()[word]; ok {
		return all
	}
	return groupOf()[stem(word)]
}
