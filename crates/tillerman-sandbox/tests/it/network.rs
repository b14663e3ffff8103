//! The way to the network: only through the proxy, only to what is allowed.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use tillerman_ports::BoxFuture;
use tillerman_sandbox::egress::Resolve;
use tillerman_sandbox::{Confinement, NetworkPolicy, PrivateAddresses, ProxyRules, Upstream};

use crate::world::{ATTACKER, World, everyone};

const PROXY: &str = "127.0.0.1:17391";

/// Names of a network that does not exist.
#[derive(Debug, Default)]
struct Names(HashMap<String, Vec<SocketAddr>>);

impl Resolve for Names {
    fn resolve(&self, name: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        let found = self
            .0
            .get(&name)
            .map(|list| list.iter().map(|address| SocketAddr::new(address.ip(), port)).collect());
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

/// A world where some names lead to this machine.
fn world() -> World {
    let here: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let names =
        ["good.test", "api.good.test", "evil.test"].map(|name| (name.to_owned(), vec![here]));
    World::with_resolver(Arc::new(Names(names.into())))
}

/// A server that answers every connection with what it was sent first.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = Vec::new();
            let mut piece = [0; 4096];
            let whole = |bytes: &[u8]| {
                bytes.starts_with(b"through") || bytes.windows(4).any(|end| end == b"\r\n\r\n")
            };
            while !whole(&bytes) {
                match stream.read(&mut piece) {
                    Ok(read) if read > 0 => bytes.extend(&piece[..read]),
                    Ok(_) | Err(_) => break,
                }
            }
            let body = String::from_utf8_lossy(&bytes).replace("\r\n", "|");
            let length = body.len();
            drop(write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"));
        }
    });
    port
}

fn proxied(world: &World, allowed: &[&str], private_addresses: PrivateAddresses) -> Confinement {
    let allowed = allowed.iter().map(|domain| (*domain).to_owned()).collect();
    let denied = vec!["secret.good.test".to_owned()];
    let rules = ProxyRules { allowed, denied, private_addresses, upstream: Upstream::BuiltIn };
    Confinement { network: NetworkPolicy::Proxied(rules), ..world.confinement() }
}

fn get(host: &str, port: u16) -> String {
    format!(
        "{ATTACKER} proxy {PROXY} 'GET http://{host}:{port}/x HTTP/1.1\\r\\nHost: other\\r\\n\\r\\n'"
    )
}

fn connect(host: &str, port: u16) -> String {
    format!(
        "{ATTACKER} proxy {PROXY} 'CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\nthrough the tunnel'"
    )
}

fn socks(host: &str, port: u16) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let length = [u8::try_from(host.len()).unwrap()];
    let tail = hex(b"through socks");
    format!(
        "{ATTACKER} proxy-hex {PROXY} 05010005010003{}{}{}{tail}",
        hex(&length),
        hex(host.as_bytes()),
        hex(&port.to_be_bytes())
    )
}

#[test]
fn there_is_no_network_by_default() {
    everyone("network::there_is_no_network_by_default", || {
        let world = World::new();
        let port = server();
        world.run(&format!("{ATTACKER} tcp 127.0.0.1:{port}")).failed_saying("refused");
        world.run(&format!("{ATTACKER} tcp 192.0.2.1:80")).failed_saying("unreachable");
        world.run(&format!("{ATTACKER} udp 192.0.2.1:53")).failed_saying("unreachable");
        // A loopback of its own, on which servers under test may listen.
        let script = "exec 3<>/dev/tcp/127.0.0.1/1 2>/dev/null || ls /sys/class/net >/dev/null";
        world.run(script).succeeded();
    });
}

#[test]
fn allowed_domains_are_reached_in_every_way() {
    everyone("network::allowed_domains_are_reached_in_every_way", || {
        let (world, port) = (world(), server());
        let run = |script: String| {
            let allowed = ["good.test", "*.good.test"];
            world.run_in(proxied(&world, &allowed, PrivateAddresses::Allowed), &script)
        };
        let ended = run(get("good.test", port));
        let said = ended.succeeded();
        // The host of the address counts, whatever the header claims.
        assert!(said.contains(&format!("GET /x HTTP/1.1|Host: good.test:{port}|")), "{said}");
        let ended = run(connect("api.good.test", port));
        assert!(ended.succeeded().ends_with("through the tunnel"), "{ended:#?}");
        let ended = run(socks("GOOD.test", port));
        assert!(ended.succeeded().ends_with("through socks"), "{ended:#?}");
        assert_eq!(ended.violations, []);
        if std::path::Path::new("/usr/bin/curl").exists() {
            let ended = run(format!("curl -sS http://good.test:{port}/found"));
            assert!(ended.succeeded().starts_with("GET /found HTTP/1.1|"), "{ended:#?}");
        }
    });
}

#[test]
fn other_domains_are_refused_and_written_down() {
    everyone("network::other_domains_are_refused_and_written_down", || {
        let (world, port) = (world(), server());
        for host in [
            "evil.test",
            "good.test.evil.test",
            "secret.good.test",
            "127.0.0.1",
            "127.1",
            "xgood.test",
        ] {
            let attacks = [get(host, port), connect(host, port), socks(host, port)].join("; ");
            let confinement =
                proxied(&world, &["good.test", "*.good.test"], PrivateAddresses::Allowed);
            let ended = world.run_in(confinement, &attacks);
            assert!(!ended.stdout.contains("through"), "{host}: {ended:#?}");
            assert!(!ended.stdout.contains("200"), "{host}: {ended:#?}");
            assert_eq!(ended.violations.len(), 3, "{ended:#?}");
            let start = format!("{host}:{port} is ");
            assert!(ended.violations.iter().all(|it| it.text.starts_with(&start)), "{ended:#?}");
        }
        // Going around the proxy leads nowhere.
        let confinement = proxied(&world, &["*"], PrivateAddresses::Allowed);
        let ended = world.run_in(confinement, &format!("{ATTACKER} tcp 127.0.0.1:{port}"));
        ended.failed_saying("refused");
    });
}

#[test]
fn a_name_that_leads_inside_is_refused() {
    everyone("network::a_name_that_leads_inside_is_refused", || {
        let (world, port) = (world(), server());
        for allowed in [&["good.test"][..], &["*"]] {
            let confinement = proxied(&world, allowed, PrivateAddresses::Refused);
            let ended = world.run_in(confinement, &connect("good.test", port));
            assert!(ended.stdout.contains("403 Forbidden"), "{ended:#?}");
            assert!(ended.violations[0].text.contains("leads to an address of this machine"));
        }
        let confinement = proxied(&world, &["*"], PrivateAddresses::Refused);
        let ended = world.run_in(confinement, &connect("127.0.0.1", port));
        assert!(ended.stdout.contains("403 Forbidden"), "{ended:#?}");
        // Unless a rule names the address itself.
        let confinement = proxied(&world, &["127.0.0.1"], PrivateAddresses::Refused);
        let ended = world.run_in(confinement, &connect("127.0.0.1", port));
        assert!(ended.succeeded().ends_with("through the tunnel"), "{ended:#?}");
    });
}

#[test]
fn a_second_request_on_the_same_connection_goes_nowhere() {
    everyone("network::a_second_request_on_the_same_connection_goes_nowhere", || {
        let (world, port) = (world(), server());
        let first = format!(
            "POST http://good.test:{port}/x HTTP/1.1\\r\\nContent-Length: 3\\r\\n\\r\\nabc"
        );
        let second = format!("GET http://evil.test:{port}/y HTTP/1.1\\r\\n\\r\\n");
        let confinement = proxied(&world, &["good.test"], PrivateAddresses::Allowed);
        let ended =
            world.run_in(confinement, &format!("{ATTACKER} proxy {PROXY} '{first}{second}'"));
        assert!(ended.succeeded().contains("POST /x"), "{ended:#?}");
        assert!(!ended.stdout.contains("evil"), "{ended:#?}");
    });
}

#[test]
fn a_proxy_of_the_users_own_is_used_as_it_is() {
    everyone("network::a_proxy_of_the_users_own_is_used_as_it_is", || {
        let (world, port) = (world(), server());
        let upstream = Upstream::Own { http: Some(port), socks: None };
        let rules = ProxyRules { upstream, ..ProxyRules::default() };
        let confinement =
            Confinement { network: NetworkPolicy::Proxied(rules), ..world.confinement() };
        let ended = world.run_in(confinement, &get("anything.test", 80));
        assert!(ended.succeeded().contains("GET http://anything.test:80/x"), "{ended:#?}");
    });
}
