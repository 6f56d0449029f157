import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

/* A host of MCP Apps, as small as one can be: what it is asked is answered by the test, which holds the client. */

const capabilities = { serverTools: {}, openLinks: {} };
let bridge;
let frame;

window.host = {
  links: [],
  sizes: [],
  async mount(html, hostContext) {
    frame?.remove();
    frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.style.cssText = 'border:0;width:100%;height:150px;display:block';
    document.body.append(frame);
    bridge = new AppBridge(null, { name: 'host', version: '1' }, capabilities, { hostContext });
    bridge.oncalltool = (params) => window.callTool(params);
    bridge.onopenlink = async ({ url }) => {
      window.host.links.push(url);
      return {};
    };
    bridge.onsizechange = ({ height }) => {
      window.host.sizes.push(height);
      frame.style.height = `${height}px`;
    };
    const initialized = new Promise((resolve) => (bridge.oninitialized = resolve));
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = html;
    await initialized;
  },
  give: async (input, result) => {
    await bridge.sendToolInput({ arguments: input });
    await bridge.sendToolResult(result);
  },
  cancel: () => bridge.sendToolCancelled({ reason: 'by the person' }),
  context: (hostContext) => bridge.setHostContext(hostContext),
};
