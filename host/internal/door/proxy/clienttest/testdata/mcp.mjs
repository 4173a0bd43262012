// thresh_recall over both transports, with both generations of the protocol's own client: node mcp.mjs URL TOKEN THRESH
const [url, token, thresh] = process.argv.slice(2);
const v2 = async () => ({ ...await import('@modelcontextprotocol/client'), ...await import('@modelcontextprotocol/client/stdio') });
const generations = {
  v1: async () => ({
    ...await import('@modelcontextprotocol/sdk/client/index.js'), ...await import('@modelcontextprotocol/sdk/client/stdio.js'),
    ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  }),
  v2,
  stateless: v2, // at the revision without initialize
};
for (const [name, load] of Object.entries(generations)) {
  const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await load();
  for (const transport of [
    new StreamableHTTPClientTransport(new URL(url + '/mcp'), { requestInit: { headers: { authorization: 'Bearer ' + token, 'X-Thresh-Session': 'chat' } } }),
    new StdioClientTransport({ command: thresh, args: ['sessions', 'mcp', '--session', 'chat'], env: process.env }),
  ]) {
    const versionNegotiation = name === 'stateless' ? { mode: { pin: '2026-07-28' } } : undefined;
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
    await client.connect(transport);
    const { tools } = await client.listTools();
    const said = [];
    for (const id of ['call_1', 'call_2']) {
      const r = await client.callTool({ name: tools[0].name, arguments: { id } });
      said.push(`${r.isError ?? false}: ${r.content[0].text}`);
    }
    await client.close();
    console.log(name, tools.map((t) => t.name).join(), said.join('; '));
  }
}
