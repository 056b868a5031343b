// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// As the first tokens were: texts in bytes32.
contract OldCoin {
    bytes32 public constant name = "Old Coin";
    bytes32 public constant symbol = "OLD";
    uint256 public constant decimals = 18;

    function balanceOf(address) external pure returns (uint256) {
        return 2 ether;
    }
}

/// Nothing but an amount.
contract BareCoin {
    function balanceOf(address) external pure returns (uint256) {
        return 7;
    }
}

contract RevertingCoin {
    function balanceOf(address) external pure returns (uint256) {
        revert("too many requests: rate limit exceeded");
    }
}

contract SilentRevertingCoin {
    function balanceOf(address) external pure returns (uint256) {
        assembly {
            revert(0, 0)
        }
    }
}

contract InvalidOpcodeCoin {
    function balanceOf(address) external pure returns (uint256) {
        assembly {
            invalid()
        }
    }
}

contract EndlessCoin {
    function balanceOf(address) external pure returns (uint256 sum) {
        while (true) sum += 1;
    }
}

/// Answers with one byte where 32 are due.
contract ShortCoin {
    function balanceOf(address) external pure {
        assembly {
            return(0, 1)
        }
    }
}

/// Names of the size, and decimals of the kind, that an attacker would choose.
contract HostileCoin {
    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function decimals() external pure returns (uint256) {
        return type(uint256).max;
    }

    function name() external pure returns (string memory) {
        return string(new bytes(1_000_000));
    }

    /// Not UTF-8.
    function symbol() external pure returns (string memory) {
        bytes memory text = hex"ff00fe80";
        return string(text);
    }
}

/// An offset and a length that point outside of the answer, and a text with NUL in it.
contract LyingCoin {
    function balanceOf(address) external pure returns (uint256) {
        return 1;
    }

    function decimals() external pure returns (uint8) {
        return 255;
    }

    function name() external pure returns (uint256, uint256) {
        return (32, type(uint256).max);
    }

    function symbol() external pure returns (string memory) {
        bytes memory text = hex"410042";
        return string(text);
    }
}

/// Answers 1 to everything, also to every question of ERC-165.
contract YesCoin {
    fallback(bytes calldata) external returns (bytes memory) {
        return abi.encode(uint256(1));
    }
}

/// Wants its balance looked up at an address of the web (EIP-3668).
contract LookupCoin {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    string public url;

    constructor(string memory target) {
        url = target;
    }

    function balanceOf(address) external view returns (uint256) {
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, "", bytes4(0), "");
    }
}

/// Its owner moves what others have, with their consent or without, and it burns a tenth of what is sent.
contract SeizingCoin {
    event Transfer(address indexed from, address indexed to, uint256 value);
    mapping(address => uint256) public balanceOf;

    function give(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function seize(address from, address to, uint256 value) external {
        balanceOf[from] -= value;
        balanceOf[to] += value - value / 10;
        emit Transfer(from, to, value);
    }
}

/// Does what it is told: gives and takes honestly, only logs, lets balances change by themselves, or falls silent.
contract ForgingCoin {
    event Transfer(address indexed from, address indexed to, uint256 value);
    mapping(address => uint256) private amounts;
    uint256 public drift;
    bool public silent;

    function balanceOf(address account) external view returns (uint256) {
        require(!silent, "silent");
        return 1e30 + amounts[account] - drift * block.number;
    }

    function behave(uint256 newDrift, bool newSilent) external {
        drift = newDrift;
        silent = newSilent;
    }

    function give(address to, uint256 value) external {
        amounts[to] += value;
        emit Transfer(address(0), to, value);
    }

    function seize(address from, address to, uint256 value) external {
        amounts[from] -= value;
        amounts[to] += value;
        emit Transfer(from, to, value);
    }

    function forge(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }

    event Approval(address indexed owner, address indexed spender, uint256 value);

    function approve(address spender, uint256 value) external {
        emit Approval(msg.sender, spender, value);
    }

    function approveFor(address owner, address spender, uint256 value) external {
        emit Approval(owner, spender, value);
    }
}
