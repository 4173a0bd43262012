// The same agent as main.go, for Node.js, whose fetch finds no way out of Wine.
import http from 'node:http'

const prompt = process.argv.at(-1)
const messages = [{ role: 'user', content: prompt }]
http.request(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST' }, answer => {
  let text = ''
  answer.on('data', part => { text += part })
  answer.on('end', () => {
    console.log(`asked ${JSON.stringify(prompt)}: ${answer.statusCode} ${answer.statusMessage} ${text}`)
    process.exitCode = 7
  })
}).end(JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages }))
